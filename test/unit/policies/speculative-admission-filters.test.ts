/** Rewards where no filter needs them, and judgements by the host. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, giveUp, type Rounds, reward } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

const judge = (session: Rounds, promptId: string, keep: boolean) =>
  session.tell('prompt.judged', { roundId: 'r0', promptId, keep });

describe.each(bothWays)('other filters, %s', (_how, start) => {
  test('a reward that will never come is late where no filter needs it, and changes nothing', () => {
    for (const filter of ['none', 'host'] as const) {
      const session = start({ filter });
      session.open(prompts('a', 'b'));
      session.complete('a/0#0');
      expect(brief(giveUp(session, 'a/0#0'))).toStrictEqual(['response.late a/0#0 report']);
      expect(brief(session.complete('a/1#0'))).toContain('prompt.collected a responses_held');
    }
  });

  test('nor does one of a prompt that counts already, or of a response that has left', () => {
    const session = start({ filter: 'zero-variance', promptSpeculation: 1.5, partialRollout: true, maxStaleness: 1 });
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
    expect(brief(giveUp(session, 'a/0#0'))).toStrictEqual(['response.late a/0#0 report']);
    expect(session.state).toStrictEqual(before);
    session.tell('round.failed', { roundId: 'r0' });
    // It was minted by another session.
    const event = { type: 'reward.ready', at: 0, requestId: 'a/0#0', reward: 1 };
    session.refuses(event, 'unknown_id', 'requestId');
  });

  test('without a filter rewards are handed over with the responses that have one', () => {
    const session = start({ promptsPerRound: 1, maxStaleness: 0 });
    session.open([{ promptId: 'a', ref: 'row 7', domain: 'math', promptTokens: 12 }]);
    session.complete('a/0#0');
    reward(session, 'a/0#0', 0.25);
    const all = session.complete('a/1#0');
    expect(only(all, 'prompt.counted')).toStrictEqual([
      {
        type: 'prompt.counted',
        at: 0,
        promptId: 'a',
        roundId: 'r0',
        domain: 'math',
        promptTokens: 12,
        responses: [
          { requestId: 'a/0#0', tokens: 10, reward: 0.25 },
          { requestId: 'a/1#0', tokens: 10 },
        ],
        reason: { code: 'no_filter', counted: 1, needed: 1 },
      },
    ]);
    expect(only(all, 'round.completed')[0]!.prompts).toStrictEqual([
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
    expect(reward(session, 'a/1#0', 1)).toStrictEqual([]);
    expect(judge(session, 'a', false)).toStrictEqual([
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
        reason: { code: 'host' },
      },
      { type: 'prompts.request', at: 0, roundId: 'r0', count: 1, reason: { code: 'filtered', target: 2, admitted: 1 } },
    ]);
    const late = [{ type: 'judgement.late', at: 0, promptId: 'a', roundId: 'r0', reason: { code: 'not_waiting' } }];
    expect(judge(session, 'a', true)).toStrictEqual(late);
    expect(judge(session, 'a', false)).toStrictEqual(late);
  });

  test('rewards are known by the ids of before a restart of the host', () => {
    const session = start({ filter: 'zero-variance' });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0');
    session.tell('host.restarted', { idPrefix: 'h1-' });
    session.complete('h1-a/1#0');
    session.tell('host.restarted', { idPrefix: 'h2-' });
    expect(reward(session, 'a/0#0', 0)).toStrictEqual([]);
    expect(brief(reward(session, 'h1-a/1#0', 1))).toStrictEqual(['prompt.counted a passed']);
    expect(brief(reward(session, 'a/1#0', 1))).toStrictEqual(['response.late a/1#0 report']);
  });
});
