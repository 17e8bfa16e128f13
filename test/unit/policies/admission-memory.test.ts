/** What a policy holds beside its snapshot: nothing of requests that are over, whatever the host leaves out. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { create, speculativeAdmission } from '../../../src/index.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const heap = () => {
  collect();
  return process.memoryUsage().heapUsed;
};

test('a host that never answers a timer: confirmed aborts and finished responses take no room', () => {
  const policy = create(speculativeAdmission, {
    promptsPerRound: 1,
    responsesPerPrompt: 1,
    responseTimeoutSeconds: 1e6,
  });
  let at = 0;
  const rounds = (count: number) => {
    for (let n = 0; n < count; n += 1, at += 1e-3) {
      const prompts = [{ promptId: `a${at}` }, { promptId: `b${at}` }];
      const opened = policy.send({
        type: 'round.opened',
        at,
        roundId: `r${at}`,
        kind: 'short',
        weightVersion: 1,
        prompts,
      });
      const [first] = opened.flatMap((one) => (one.type === 'request.launch' ? [one.requestId] : []));
      for (const one of policy.send({ type: 'response.completed', at, requestId: first!, tokens: 1 })) {
        if (one.type === 'request.abort') policy.send({ type: 'request.aborted', at, requestId: one.requestId });
      }
    }
  };
  rounds(2000);
  const before = heap();
  rounds(10_000);
  expect((heap() - before) / 10_000).toBeLessThan(100);
});
