/** The end of an epoch: whatever is still in the recipe is trained before the source is drained. */
import { describe, expect, test } from 'vitest';
import { create, tailBatching } from '../../../src/index.ts';
import { brief, Rounds } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

/** One prompt and one response a round, of two prompts that are started. */
const tail = (config = {}): Rounds =>
  new Rounds(
    create(tailBatching, {
      promptsPerRound: 1,
      responsesPerPrompt: 1,
      promptSpeculation: 2,
      responseSpeculation: 1,
      ...config,
    }) as never,
  );
const request = (session: Rounds, weightVersion = 0) =>
  session.tell('round.requested', { roundId: `r${session.rounds++}`, weightVersion });
const isEmpty = (session: Rounds) => {
  const { parts } = session.state as unknown as { parts: Record<string, { state: Record<string, unknown[]> }> };
  const { admission, queue } = parts as Required<typeof parts>;
  expect([admission!.state.prompts, admission!.state.settling]).toEqual([[], []]);
  expect([queue!.state.entries, queue!.state.unused, queue!.state.carried]).toEqual([[], [], []]);
};
const drained = (session: Rounds, weightVersion = 9) => {
  expect(brief(request(session, weightVersion))).toEqual([`source.drained r${session.rounds - 1} source_exhausted`]);
  isEmpty(session);
};
/** a counts; b is unfinished, and there is nothing more. */
function atTheEnd(config = {}): Rounds {
  const session = tail({ maxStaleness: 1, ...config });
  request(session);
  session.supply('r0', ...prompts('a', 'b'));
  session.tell('source.exhausted');
  expect(brief(session.complete('a/0#0'))).toContain('round.completed r0 quota_reached');
  return session;
}

describe.each([
  ['in one go', () => undefined],
  ['restored', (session: Rounds) => session.restore()],
] as const)('prompts that are carried, %s', (_how, between) => {
  test('are what the last round is made of', () => {
    const session = atTheEnd();
    between(session);
    const planned = request(session, 1);
    expect(planned).toMatchObject([
      {
        type: 'round.planned',
        kind: 'long',
        queued: [],
        reason: { code: 'source_exhausted', queued: 0, carried: 1 },
      },
    ]);
    expect(brief(session.complete('b/0#0'))).toEqual([
      'response.accepted b/0#0 held',
      'prompt.collected b responses_held',
      'prompt.counted b no_filter',
      'round.completed r1 quota_reached',
      'round.drained r1 all_ended',
    ]);
    drained(session);
  });

  test('also one that was completed between the rounds', () => {
    const session = atTheEnd();
    session.complete('b/0#0');
    between(session);
    expect(brief(request(session, 1))).toEqual([
      'round.planned r1 source_exhausted',
      'prompt.counted b no_filter',
      'round.completed r1 quota_reached',
      'round.drained r1 all_ended',
    ]);
    drained(session);
  });

  test('a round of fewer than P0 of them says that the source is exhausted', () => {
    const session = tail({ maxStaleness: 1, promptsPerRound: 2, promptSpeculation: 1.5 });
    request(session);
    session.supply('r0', ...prompts('a', 'b', 'c'));
    session.tell('source.exhausted');
    session.complete('a/0#0', 'b/0#0');
    between(session);
    request(session, 1);
    expect(only(session.complete('c/0#0'), 'round.completed')).toMatchObject([
      { prompts: [{ promptId: 'c' }], reason: { code: 'source_exhausted', counted: 1, needed: 2 } },
    ]);
    drained(session);
  });

  test('those whose weights are too old by then are queued, and trained in the round after', () => {
    const session = atTheEnd();
    between(session);
    const old = request(session, 5);
    expect(brief(old)).toContain('prompt.deferred b stale_weights');
    expect(brief(old)).toContain('round.completed r1 source_exhausted');
    session.confirm(old);
    expect(only(request(session, 5), 'round.planned')).toMatchObject([{ queued: [{ promptId: 'b' }] }]);
    session.complete('b/0#1');
    drained(session);
  });

  test('nothing is planned for one that leaves between the rounds', () => {
    const failing = atTheEnd({ retry: { data: 0 } });
    expect(brief(failing.tell('response.failed', { requestId: 'b/0#0', kind: 'data' }))).toContain(
      'prompt.failed b data',
    );
    between(failing);
    drained(failing);
    const judged = tail({ maxStaleness: 1, filter: 'host' });
    request(judged);
    judged.supply('r0', ...prompts('a', 'b'));
    judged.tell('source.exhausted');
    judged.complete('a/0#0', 'b/0#0');
    judged.tell('prompt.judged', { roundId: 'r0', promptId: 'a', keep: true });
    judged.tell('prompt.judged', { roundId: 'r0', promptId: 'b', keep: false });
    between(judged);
    drained(judged);
  });
});

test('prompts that wait for the confirmation of an abort: it is asked for first, and they are trained', () => {
  const session = atTheEnd({ partialRollout: true, allowOverlap: true });
  const event = { type: 'round.requested', at: 0, roundId: 'r1', weightVersion: 1 };
  session.refuses(event, 'out_of_order', 'roundId');
  session.tell('request.aborted', { requestId: 'b/0#0', tokens: 5 });
  const planned = request(session, 1);
  expect(only(planned, 'round.planned')).toMatchObject([{ kind: 'long', queued: [{ promptId: 'b' }] }]);
  expect(only(planned, 'request.launch')).toMatchObject([{ requestId: 'b/0#1', resumeFrom: { tokens: 5 } }]);
  session.complete('b/0#1');
  drained(session);
});

test('domains that are exhausted one after the other: the queue is flushed', () => {
  const session = tail({ promptsPerRound: 2, promptSpeculation: 1.5, quotas: { code: 1, math: 1 } });
  request(session);
  session.supply(
    'r0',
    ...['a', 'b'].map((promptId) => ({ promptId, domain: 'code' })),
    ...['c', 'd'].map((promptId) => ({ promptId, domain: 'math' })),
  );
  session.tell('source.exhausted', { domain: 'code' });
  const all = session.complete('a/0#0', 'c/0#0');
  session.confirm(all);
  session.restore();
  session.tell('source.exhausted', { domain: 'math' });
  const planned = request(session);
  expect(only(planned, 'round.planned')).toMatchObject([{ kind: 'long', queued: [{}, {}] }]);
  session.complete(...only(planned, 'request.launch').map((one) => one.requestId));
  drained(session);
  session.tell('source.reopened');
  expect(brief(request(session, 9))).toContain('prompts.request r3 round_opened');
});

test('a reward that comes while its prompt is in the queue is used when the prompt comes back', () => {
  const session = tail({ partialRollout: true, maxStaleness: 1, responsesPerPrompt: 2, filter: 'zero-variance' });
  request(session);
  session.supply('r0', ...prompts('a', 'b'));
  session.complete('b/0#0', 'a/0#0', 'a/1#0');
  session.tell('reward.ready', { requestId: 'a/0#0', reward: 0 });
  const end = session.tell('reward.ready', { requestId: 'a/1#0', reward: 1 });
  expect(brief(session.confirm(end))).toContain('prompt.deferred b round_completed');
  session.restore();
  expect(session.tell('reward.ready', { requestId: 'b/0#0', reward: 1 })).toEqual([]);
  session.restore();
  // A second one is late.
  expect(brief(session.tell('reward.ready', { requestId: 'b/0#0', reward: 0 }))).toEqual([
    'response.late b/0#0 report',
  ]);
  expect(only(request(session, 1), 'reward.request')).toEqual([]);
  session.complete('b/1#1');
  const counted = only(session.tell('reward.ready', { requestId: 'b/1#1', reward: 0 }), 'prompt.counted');
  expect(counted).toMatchObject([{ responses: [{ reward: 1 }, { reward: 0 }] }]);
});
