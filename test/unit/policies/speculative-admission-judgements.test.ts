/** Judgements and rewards that come when there is no room for their prompt in a round: they are kept, and used. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief, type Rounds, reward } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

const judge = (session: Rounds, promptId: string, keep: boolean) =>
  session.tell('prompt.judged', { roundId: 'r0', promptId, keep });

describe.each(bothWays)('what is said of a prompt that waits for the next round, %s', (_how, start) => {
  const onward = { promptsPerRound: 1, responsesPerPrompt: 1, promptSpeculation: 2, maxStaleness: 1 };

  test('a judgement between rounds lets its prompt count in the next one', () => {
    const session = start({ ...onward, filter: 'host' });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'b/0#0');
    expect(brief(judge(session, 'a', true)).slice(0, 2)).toStrictEqual([
      'prompt.counted a passed',
      'round.completed r0 quota_reached',
    ]);
    expect(judge(session, 'b', true)).toStrictEqual([]);
    // The first one holds.
    expect(brief(judge(session, 'b', false))).toStrictEqual(['judgement.late b not_waiting']);
    expect(session.tell('host.restarted', { idPrefix: 'h1-' })).toStrictEqual([]);
    expect(brief(session.open([], 'short', 1))).toStrictEqual([
      'prompt.counted b passed',
      'round.completed r1 quota_reached',
      'round.drained r1 all_ended',
    ]);
  });

  test('so does one in a round whose quota for its domain is full', () => {
    const session = start({
      ...onward,
      promptsPerRound: 2,
      filter: 'host',
      quotas: { code: 1, math: 1 },
    });
    session.open([
      { promptId: 'a', domain: 'code' },
      { promptId: 'b', domain: 'code' },
      { promptId: 'c', domain: 'math' },
      { promptId: 'd', domain: 'math' },
    ]);
    session.complete('a/0#0', 'b/0#0', 'c/0#0');
    judge(session, 'a', true);
    expect(judge(session, 'b', true)).toStrictEqual([]);
    expect(only(judge(session, 'c', true), 'round.completed')).toHaveLength(1);
    expect(brief(session.open([], 'short', 1))).toContain('prompt.counted b passed');
  });

  test('a prompt that is not kept leaves at once', () => {
    const session = start({ ...onward, filter: 'host' });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'b/0#0');
    judge(session, 'a', true);
    expect(brief(judge(session, 'b', false))).toStrictEqual(['prompt.filtered b host']);
  });

  test('one that has passed and is too old by then is deferred by name', () => {
    const session = start({ ...onward, filter: 'host' });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'b/0#0');
    judge(session, 'a', true);
    judge(session, 'b', true);
    expect(brief(session.open([], 'short', 2))[0]).toBe('prompt.deferred b stale_weights');
  });

  test('rewards between rounds are kept: the prompt counts in the next one', () => {
    const session = start({ ...onward, responsesPerPrompt: 2, filter: 'zero-variance' });
    session.open(prompts('a', 'b'));
    session.complete('a/0#0', 'a/1#0', 'b/0#0', 'b/1#0');
    reward(session, 'a/0#0', 0);
    reward(session, 'a/1#0', 1);
    expect([...reward(session, 'b/0#0', 0), ...reward(session, 'b/1#0', 1)]).toStrictEqual([]);
    expect(brief(session.open([], 'short', 1))[0]).toBe('prompt.counted b passed');
  });
});
