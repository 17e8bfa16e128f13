/** The long-prompt queue takes no `host.restarted`: inside tail-batching, all that it held comes out after one. */
import { expect, test } from 'vitest';
import { create, tailBatching } from '../../../src/index.ts';
import { prompts, Session } from '../../support/sessions/session.ts';

test.each([0, 1, 2, 3])(
  'a host that has forgotten everything trains what was queued, after %i further events',
  (more) => {
    const job = new Session(
      create(tailBatching, {
        ...{ promptsPerRound: 2, responsesPerPrompt: 1, promptSpeculation: 2, responseSpeculation: 1 },
        maxDeferrals: 1,
      }) as never,
    );
    const request = (roundId: string) => ({ type: 'round.requested', roundId, weightVersion: 0 });
    job.send(request('r0') as never);
    job.send({ type: 'prompts.supplied', roundId: 'r0', prompts: prompts('a', 'b', 'c', 'd') } as never);
    // Two are trained, two are deferred; then a long round of those is under way, or one of them is done.
    const open = job.complete('a/0#0', 'b/0#0');
    const events = [() => job.confirm(open), () => job.send(request('r1') as never), () => job.complete('c/0#1')];
    for (const event of events.slice(0, more)) event();

    job.restore();
    const trained: string[] = [];
    const done: string[] = [];
    const pending = job.send({ type: 'host.restarted', idPrefix: 'h-' } as never);
    const hear = (event: object) => pending.push(...job.send(event as never));
    hear({ type: 'source.exhausted' });
    for (let round = 0; !done.includes('source.drained'); round += 1) {
      expect(round, 'rounds').toBeLessThan(9);
      for (let one = pending.shift(); one !== undefined; one = pending.shift()) {
        done.push(one.type);
        if (one.type === 'request.launch') hear({ type: 'response.completed', requestId: one.requestId, tokens: 9 });
        if (one.type === 'request.abort') hear({ type: 'request.aborted', requestId: one.requestId, tokens: 1 });
        if (one.type === 'round.completed') trained.push(...one.prompts.map(({ promptId }) => promptId));
      }
      hear(request(`again-${round}`));
    }
    expect(trained.sort()).toEqual(['c', 'd']);
    expect(job.policy.snapshot()).toMatchObject({
      state: { parts: { queue: { state: { entries: [], unused: [] } } } },
    });
  },
);
