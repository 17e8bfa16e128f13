/** Rewards with the filter that needs them: what counts, what is filtered, and what never gets one. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, giveUp, reward } from '../../support/sessions/rounds.ts';
import { only } from '../../support/sessions/session.ts';

describe.each(bothWays)('filter `zero-variance`, %s', (_how, start) => {
  const begin = (config = {}) => {
    const session = start({ filter: 'zero-variance', ...config });
    session.open([{ promptId: 'a', ref: 'row 7' }, { promptId: 'b' }]);
    return session;
  };

  test('a prompt counts with its last reward, and says that it has passed', () => {
    const session = begin();
    session.complete('a/0#0');
    expect(reward(session, 'a/0#0', 0)).toStrictEqual([]);
    expect(brief(session.complete('a/1#0'))).toStrictEqual([
      'response.accepted a/1#0 held',
      'prompt.collected a responses_held',
    ]);
    expect(reward(session, 'a/1#0', 1)).toStrictEqual([
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
    expect(brief(reward(session, 'a/0#0', 0.5))).toStrictEqual(['prompt.counted a passed']);
  });

  test('equal rewards filter the prompt: named with its responses, its deviation and the tolerance, and replaced', () => {
    const session = begin();
    session.complete('a/0#0', 'a/1#0');
    reward(session, 'a/0#0', 1);
    expect(reward(session, 'a/1#0', 1)).toStrictEqual([
      {
        type: 'prompt.filtered',
        at: 0,
        promptId: 'a',
        roundId: 'r0',
        ref: 'row 7',
        dropped: [
          { requestId: 'a/0#0', tokens: 10, cause: 'filtered', reward: 1 },
          { requestId: 'a/1#0', tokens: 10, cause: 'filtered', reward: 1 },
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
    expect(brief(reward(session, 'a/0#0', 0))).toStrictEqual(['response.late a/0#0 report']);
    expect(brief(reward(session, 'a/1#0', 1))).toStrictEqual([
      'prompt.filtered a zero_variance',
      'prompts.request r0 filtered',
    ]);
    expect(brief(reward(session, 'a/1#0', 1))).toStrictEqual(['response.late a/1#0 report']);
  });

  test('a response that never gets its reward is dropped; a prompt with too few others leaves by name, and is replaced', () => {
    const session = start({
      ...{ filter: 'zero-variance', promptsPerRound: 4 },
      responseSpeculation: 1.5,
      retry: { environment: 0 },
    });
    session.open([{ promptId: 'a', ref: 'row 7' }, { promptId: 'b' }, { promptId: 'c' }, { promptId: 'd' }]);
    session.complete('d/0#0');
    session.complete('a/0#0');
    expect(brief(giveUp(session, 'a/0#0'))).toStrictEqual(['response.dropped a/0#0 no_reward']);
    session.complete('a/1#0');
    expect(brief(giveUp(session, 'a/1#0'))).toStrictEqual(['response.dropped a/1#0 no_reward']);
    reward(session, 'd/0#0', 1);
    const since = (id: string, value: number) => {
      session.tell('response.failed', { requestId: `${id}#0`, kind: 'data' });
      session.complete(`${id}#1`);
      return reward(session, `${id}#1`, value);
    };
    // The first reward of another that was launched since forgets this: it may have been an outage.
    expect(brief(since('b/0', 0))).toEqual(['request.launch a/1#1 retry_environment']);
    session.complete('a/1#1');
    giveUp(session, 'a/1#1');
    // Four more show that it is its own fault.
    for (const [index, id] of ['b/1', 'c/0', 'd/1'].entries()) since(id, index + 1);
    const lost = since('c/1', 1);
    expect(brief(lost)).toStrictEqual(
      expect.arrayContaining([
        'request.abort a/2#0 prompt_failed',
        'prompt.failed a reward',
        'prompts.request r0 failed',
      ]),
    );
    expect(only(lost, 'prompt.failed')).toStrictEqual([
      {
        type: 'prompt.failed',
        at: 0,
        promptId: 'a',
        roundId: 'r0',
        ref: 'row 7',
        dropped: [],
        reason: { code: 'reward', failures: 1, budget: 0 },
      },
    ]);
  });
});
