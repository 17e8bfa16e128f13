/** What the host owes is named again after its restart, and where a round begins with prompts that wait for it. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, keep, kept, type Rounds, reward } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

const restart = (session: Rounds, idPrefix = 'h1-') => session.tell('host.restarted', { idPrefix });

describe.each(bothWays)('what the host owes, %s', (_how, start) => {
  test('rewards: those of collected prompts, and of prompts that are not collected yet', () => {
    const session = start({ promptsPerRound: 2, filter: 'zero-variance' });
    session.open([{ promptId: 'a', domain: 'math' }, { promptId: 'b' }]);
    session.complete('a/0#0', 'a/1#0', 'b/1#0');
    reward(session, 'a/0#0', 1);
    const owed = only(restart(session), 'reward.request');
    expect(owed).toStrictEqual([
      {
        type: 'reward.request',
        at: 0,
        requestId: 'a/1#0',
        promptId: 'a',
        domain: 'math',
        reason: { code: 'host_restarted' },
      },
      { type: 'reward.request', at: 0, requestId: 'b/1#0', promptId: 'b', reason: { code: 'host_restarted' } },
    ]);
    expect(brief(reward(session, 'a/1#0', 0))).toStrictEqual(['prompt.counted a passed']);
    session.complete('h1-b/0#0');
    // What is held keeps its id over every restart.
    expect(brief(restart(session, 'h2-'))).toStrictEqual([
      'reward.request h1-b/0#0 host_restarted',
      'reward.request b/1#0 host_restarted',
    ]);
    reward(session, 'b/1#0', 0);
    expect(brief(reward(session, 'h1-b/0#0', 1))).toContain('round.completed r0 quota_reached');
  });

  test('judgements, of collected prompts that have none', () => {
    const session = start({ promptsPerRound: 2, filter: 'host' });
    session.open([{ promptId: 'a', domain: 'math' }, { promptId: 'b' }]);
    session.complete('a/0#0', 'a/1#0', 'b/0#0');
    expect(only(restart(session), 'judgement.request')).toStrictEqual([
      {
        type: 'judgement.request',
        at: 0,
        promptId: 'a',
        domain: 'math',
        roundId: 'r0',
        requestIds: ['a/0#0', 'a/1#0'],
        reason: { code: 'host_restarted' },
      },
    ]);
    expect(brief(session.tell('prompt.judged', { roundId: 'r0', promptId: 'a', keep: true }))).toStrictEqual([
      'prompt.counted a passed',
    ]);
    expect(only(restart(session, 'h2-'), 'judgement.request')).toStrictEqual([]);
  });

  test('nothing, without a filter', () => {
    const session = start({ promptsPerRound: 2 });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0');
    expect(brief(restart(session))).toStrictEqual([
      'request.launch h1-b/0#0 host_restarted',
      'request.launch h1-b/1#0 host_restarted',
    ]);
  });

  test.each([
    ['zero-variance', ['reward.request b/0#0 round_opened', 'reward.request b/1#0 round_opened']],
    ['host', ['judgement.request b round_opened']],
  ] as const)('the same of prompts that run on into a round, with filter %s', (filter, owed) => {
    const session = start({ promptsPerRound: 1, promptSpeculation: 2, maxStaleness: 1, filter });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0', 'b/0#0', 'b/1#0');
    reward(session, 'a/0#0', 0);
    reward(session, 'a/1#0', 1);
    if (filter === 'host') session.tell('prompt.judged', { roundId: 'r0', promptId: 'a', keep: true });
    // Between rounds a restart asks in the name of the last one.
    expect(brief(restart(session))).toStrictEqual(owed.map((one) => one.replace('round_opened', 'host_restarted')));
    expect(brief(session.open([], 'short', 1))).toStrictEqual([...owed, 'prompts.request r1 round_opened']);
  });

  test('rewards of what a prompt brought along', () => {
    const session = start({ ...keep, filter: 'zero-variance', promptsPerRound: 1 });
    session.open([{ promptId: 'a', kept: [kept(0, 4, true), kept(1, 6, true)] }], 'short', 1);
    expect(brief(restart(session))).toStrictEqual([
      'reward.request a/0#0 host_restarted',
      'reward.request a/1#0 host_restarted',
    ]);
  });
});

describe.each(bothWays)('rewards that come while a prompt settles, %s', (_how, start) => {
  test('go with what it keeps', () => {
    const session = start({ ...keep, filter: 'zero-variance', promptsPerRound: 1, promptSpeculation: 2 });
    session.open(prompts('a', 'b'));
    session.complete('b/0#0', 'a/0#0', 'a/1#0');
    reward(session, 'a/0#0', 0);
    expect(only(reward(session, 'a/1#0', 1), 'request.abort')).toMatchObject([{ requestId: 'b/1#0' }]);
    expect(reward(session, 'b/0#0', 1)).toStrictEqual([]);
    expect(brief(reward(session, 'b/0#0', 1))).toStrictEqual(['response.late b/0#0 report']);
    // The one whose abort came too late has its reward before it is known as kept, too.
    const [deferred] = only(session.complete('b/1#0'), 'prompt.deferred');
    expect(deferred!.prompt.kept).toMatchObject([
      { requestId: 'b/0#0', finished: true, reward: 1 },
      { requestId: 'b/1#0', finished: true },
    ]);
    expect(deferred!.prompt.kept![1]).not.toHaveProperty('reward');
    // Whoever holds it now may add the other: nothing is asked for then.
    expect(brief(reward(session, 'b/1#0', 0))).toStrictEqual(['response.late b/1#0 report']);
    const list = deferred!.prompt.kept!.map((one) => ({ reward: 0, ...one }));
    expect(brief(session.open([{ ...deferred!.prompt, kept: list }], 'short', 1))).toStrictEqual([
      'prompt.collected b responses_held',
      'prompt.counted b passed',
      'round.completed r1 quota_reached',
      'round.drained r1 all_ended',
    ]);
  });
});
