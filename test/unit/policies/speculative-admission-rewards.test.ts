/** Rewards and judgements: what counts, what is filtered, and what never gets a reward. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, type Rounds } from '../../support/rounds.ts';
import { only, prompts } from '../../support/session.ts';

const reward = (session: Rounds, requestId: string, value: number) =>
  session.tell('reward.ready', { requestId, reward: value });
/** What reward-dispatch says when the tries of a reward are used up. */
const giveUp = (session: Rounds, requestId: string) =>
  session.tell('reward.failed' as never, {
    requestId,
    promptId: requestId.split('/')[0],
    kind: 'rule',
    reason: { code: 'timeout', timeouts: 1, budget: 0 },
  });
const judge = (session: Rounds, promptId: string, keep: boolean) =>
  session.tell('prompt.judged', { roundId: 'r0', promptId, keep });

describe.each(bothWays)('filter `zero-variance`, %s', (_how, start) => {
  const begin = (config = {}) => {
    const session = start({ filter: 'zero-variance', ...config });
    session.open([{ promptId: 'a', ref: 'row 7' }, { promptId: 'b' }]);
    return session;
  };

  test('a prompt counts with its last reward, and says that it has passed', () => {
    const session = begin();
    session.complete('a/0#0');
    expect(reward(session, 'a/0#0', 0)).toEqual([]);
    expect(brief(session.complete('a/1#0'))).toEqual(['response.accepted a/1#0 held', 'prompt.collected a responses_held']);
    expect(reward(session, 'a/1#0', 1)).toEqual([
      {
        type: 'prompt.counted',
        at: 0,
        promptId: 'a',
        roundId: 'r0',
        responses: [
          { requestId: 'a/0#0', tokens: 10, reward: 0 },
          { requestId: 'a/1#0', tokens: 10, reward: 1 },
        ],
        reason: { code: 'passed', counted: 1, needed: 2 },
      },
    ]);
  });

  test('rewards that came before the last response are enough: the prompt is judged when it is collected', () => {
    const session = begin({ responsesPerPrompt: 1 });
    session.complete('a/0#0');
    expect(brief(reward(session, 'a/0#0', 0.5))).toEqual(['prompt.counted a passed']);
  });

  test('equal rewards filter the prompt: named with its responses, its deviation and the tolerance, and replaced', () => {
    const session = begin();
    session.complete('a/0#0', 'a/1#0');
    reward(session, 'a/0#0', 1);
    expect(reward(session, 'a/1#0', 1)).toEqual([
      {
        type: 'prompt.filtered',
        at: 0,
        promptId: 'a',
        roundId: 'r0',
        ref: 'row 7',
        dropped: [
          { requestId: 'a/0#0', tokens: 10, cause: 'filtered' },
          { requestId: 'a/1#0', tokens: 10, cause: 'filtered' },
        ],
        reason: { code: 'zero_variance', standardDeviation: 0, tolerance: 1e-6 },
      },
      { type: 'prompts.request', at: 0, roundId: 'r0', count: 1, reason: { code: 'filtered', target: 2, admitted: 1 } },
    ]);
  });

  // Rewards 1 and 2 have the mean 1.5, the variance 0.25 and the standard deviation 0.5; 0, 0, 3, 3 have 1.5.
  test.each([
    [[1, 2], 0.5, 'prompt.filtered', 0.5],
    [[1, 2], 0.49, 'prompt.counted', 0.5],
    [[0, 0, 3, 3], 1.5, 'prompt.filtered', 1.5],
    [[0, 0, 3, 3], 1.4, 'prompt.counted', 1.5],
    [[-1, 1], 0.5, 'prompt.counted', 1],
  ])('rewards %j against a tolerance of %d: %s', (rewards, varianceTolerance, type, standardDeviation) => {
    const session = begin({ responsesPerPrompt: rewards.length, varianceTolerance });
    const ids = rewards.map((_, index) => `a/${index}#0`);
    session.complete(...ids);
    const [decision] = ids.flatMap((id, index) => reward(session, id, rewards[index]!));
    expect(decision).toMatchObject({ type, promptId: 'a' });
    if (type === 'prompt.filtered') expect(decision!.reason).toMatchObject({ standardDeviation });
  });

  test('a second reward of a response is late; the first stands', () => {
    const session = begin();
    session.complete('a/0#0', 'a/1#0');
    reward(session, 'a/0#0', 1);
    expect(brief(reward(session, 'a/0#0', 0))).toEqual(['response.late a/0#0 report']);
    expect(brief(reward(session, 'a/1#0', 1))).toEqual(['prompt.filtered a zero_variance', 'prompts.request r0 filtered']);
    expect(brief(reward(session, 'a/1#0', 1))).toEqual(['response.late a/1#0 report']);
  });

  test('a response that never gets its reward takes its prompt out, by name, and it is replaced', () => {
    const session = begin({ responseSpeculation: 1.5 });
    session.complete('a/0#0');
    const lost = giveUp(session, 'a/0#0');
    expect(brief(lost)).toEqual([
      'request.abort a/1#0 prompt_quarantined',
      'timer.set speculative-admission/abort-grace abort_grace',
      'request.abort a/2#0 prompt_quarantined',
      'prompt.quarantined a reward',
      'prompts.request r0 quarantined',
    ]);
    expect(only(lost, 'prompt.quarantined')).toEqual([
      {
        type: 'prompt.quarantined',
        at: 0,
        promptId: 'a',
        roundId: 'r0',
        ref: 'row 7',
        dropped: [{ requestId: 'a/0#0', tokens: 10, cause: 'quarantined' }],
        reason: { code: 'reward', failures: 1, budget: 0 },
      },
    ]);
  });
});

describe.each(bothWays)('other filters, %s', (_how, start) => {
  test('a reward that will never come changes nothing where no filter needs it', () => {
    for (const filter of ['none', 'host'] as const) {
      const session = start({ filter });
      session.open(prompts('a', 'b'));
      session.complete('a/0#0');
      expect(giveUp(session, 'a/0#0')).toEqual([]);
      expect(brief(session.complete('a/1#0'))).toContain('prompt.collected a responses_held');
    }
  });

  test('nor does one of a prompt that counts already, or of a response that has left', () => {
    const session = start({ filter: 'zero-variance', promptSpeculation: 1.5, keepPartial: true, maxStaleness: 1 });
    const kept = [0, 1].map((index) => ({
      requestId: `a/${index}#0`,
      index,
      tokens: 5,
      weightVersions: [0],
      finished: true,
      reward: index,
    }));
    session.open([{ promptId: 'a', kept }, { promptId: 'b' }, { promptId: 'c' }]);
    const before = session.state;
    expect(giveUp(session, 'a/0#0')).toEqual([]);
    expect(session.state).toEqual(before);
    session.tell('round.failed', { roundId: 'r0' });
    expect(brief(giveUp(session, 'a/0#0'))).toEqual(['response.late a/0#0 report']);
  });

  test('without a filter rewards are handed over with the responses that have one', () => {
    const session = start({ promptsPerRound: 1, maxStaleness: 0 });
    session.open([{ promptId: 'a', ref: 'row 7', domain: 'math' }]);
    session.complete('a/0#0');
    reward(session, 'a/0#0', 0.25);
    const all = session.complete('a/1#0');
    expect(only(all, 'prompt.counted')).toEqual([
      {
        type: 'prompt.counted',
        at: 0,
        promptId: 'a',
        roundId: 'r0',
        domain: 'math',
        responses: [
          { requestId: 'a/0#0', tokens: 10, reward: 0.25 },
          { requestId: 'a/1#0', tokens: 10 },
        ],
        reason: { code: 'no_filter', counted: 1, needed: 1 },
      },
    ]);
    expect(only(all, 'round.completed')[0]!.prompts).toEqual([
      {
        promptId: 'a',
        ref: 'row 7',
        domain: 'math',
        responses: [
          { requestId: 'a/0#0', index: 0, tokens: 10, weightVersions: [0], reward: 0.25 },
          { requestId: 'a/1#0', index: 1, tokens: 10, weightVersions: [0] },
        ],
      },
    ]);
  });

  test('a prompt that the host does not keep leaves by name, and is replaced; judging it again is late', () => {
    const session = start({ filter: 'host' });
    session.open([{ promptId: 'a', ref: 'row 7' }, { promptId: 'b' }]);
    session.complete('a/0#0', 'a/1#0');
    reward(session, 'a/0#0', 1);
    expect(reward(session, 'a/1#0', 1)).toEqual([]);
    expect(judge(session, 'a', false)).toEqual([
      {
        type: 'prompt.filtered',
        at: 0,
        promptId: 'a',
        roundId: 'r0',
        ref: 'row 7',
        dropped: [
          { requestId: 'a/0#0', tokens: 10, cause: 'filtered' },
          { requestId: 'a/1#0', tokens: 10, cause: 'filtered' },
        ],
        reason: { code: 'host' },
      },
      { type: 'prompts.request', at: 0, roundId: 'r0', count: 1, reason: { code: 'filtered', target: 2, admitted: 1 } },
    ]);
    const late = [{ type: 'judgement.late', at: 0, promptId: 'a', roundId: 'r0', reason: { code: 'not_waiting' } }];
    expect(judge(session, 'a', true)).toEqual(late);
    expect(judge(session, 'a', false)).toEqual(late);
  });

  test('rewards are known by the ids of before a restart of the host', () => {
    const session = start({ filter: 'zero-variance' });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0');
    session.tell('host.restarted', { idPrefix: 'h1-' });
    session.complete('h1-a/1#0');
    session.tell('host.restarted', { idPrefix: 'h2-' });
    expect(reward(session, 'a/0#0', 0)).toEqual([]);
    expect(brief(reward(session, 'h1-a/1#0', 1))).toEqual(['prompt.counted a passed']);
    expect(brief(reward(session, 'a/1#0', 1))).toEqual(['response.late a/1#0 report']);
  });
});
