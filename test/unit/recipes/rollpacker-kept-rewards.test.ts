/** Rewards of what a deferred prompt keeps are computed once, whenever they come, with a filter and without. */
import { describe, expect, test } from 'vitest';
import { create, rollpacker } from '../../../src/index.ts';
import type { RollpackerInput } from '../../../src/recipes/rollpacker/index.ts';
import { smallCluster } from '../../support/examples/configs.ts';
import { Rounds } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

/** Two prompts are started for a round of one; b is deferred, with one of its two responses complete. */
function deferred(filter: 'none' | 'zero-variance', isScoredBefore: boolean) {
  const config: RollpackerInput = {
    ...smallCluster,
    promptsPerRound: 1,
    promptSpeculation: 2,
    responseSpeculation: 1,
    partialRollout: true,
    maxStaleness: 1,
    streamTraining: false,
    filter,
  };
  const session = new Rounds(create(rollpacker, config) as never);
  const dispatched = new Map<string, string>();
  const heard = <T extends readonly { type: string }[]>(decisions: T): T => {
    for (const one of only(decisions as never, 'reward.dispatch')) dispatched.set(one.requestId, one.dispatchId);
    return decisions;
  };
  const score = (requestId: string, value: number) =>
    heard(
      session.tell('reward.finished', {
        dispatchId: dispatched.get(requestId)!,
        outcome: 'scored',
        reward: value,
        seconds: 1,
      }),
    );
  session.tell('reward-worker.added', { workerId: 'w', kind: 'rule', slots: 100 });
  session.tell('round.requested', { roundId: 'r0', weightVersion: 0 });
  session.supply('r0', ...prompts('a', 'b'));
  heard(session.complete('b/0#0'));
  if (isScoredBefore) score('b/0#0', 1);
  const end = [...heard(session.complete('a/0#0', 'a/1#0')), ...score('a/0#0', 0), ...score('a/1#0', 1)];
  const away = [...end, ...session.confirm(end)];
  expect(only(away, 'prompt.deferred')).toMatchObject([{ prompt: { promptId: 'b' } }]);
  expect(only(away, 'reward.cancel')).toEqual([]);
  session.restore();
  return { session, score, heard };
}

describe.each(['none', 'zero-variance'] as const)('with filter %s', (filter) => {
  test.each([
    ['before the prompt is deferred', 'before'],
    ['while it waits in the queue', 'waiting'],
    ['after it has come back', 'back'],
  ] as const)('a reward that comes %s is not computed again', (_name, when) => {
    const { session, score, heard } = deferred(filter, when === 'before');
    const asked: string[] = [];
    const note = (decisions: ReturnType<Rounds['tell']>) => {
      asked.push(...only(decisions, 'reward.dispatch').map((one) => one.requestId));
      return heard(decisions);
    };
    if (when === 'waiting') note(score('b/0#0', 1));
    note(session.tell('round.requested', { roundId: 'r1', weightVersion: 1 }));
    if (when === 'back') note(score('b/0#0', 1));
    note(session.complete('b/1#1'));
    const rewarded = note(score('b/1#1', 0));
    expect(asked).toEqual(['b/1#1']);
    expect(only(rewarded, 'round.rewarded')).toMatchObject([
      { roundId: 'r1', prompts: [{ responses: [{ reward: 1 }, { reward: 0 }] }] },
    ]);
  });
});
