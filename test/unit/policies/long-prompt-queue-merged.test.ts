/** The long-prompt queue: what becomes of a prompt that is queued twice. */
import { describe, expect, test } from 'vitest';
import { bothWays } from '../../support/sessions/queue.ts';
import { only } from '../../support/sessions/session.ts';

describe.each(bothWays)('queued twice, %s', (_how, start) => {
  const kept = (requestId: string, tokens: number, finished: boolean) => ({
    requestId,
    index: 0,
    tokens,
    weightVersions: [0],
    finished,
  });

  test('the first one stays, with the longer expectation and one more deferral; the second is named with its responses', () => {
    const queue = start();
    queue.defer('a', { ref: 'row 1', expectedTokens: 50, kept: [kept('a/0#0', 4, true)] }, 1, 2);
    const twice = { ref: 'row 1', expectedTokens: 40, kept: [kept('a/0#3', 7, true), kept('a/1#3', 5, false)] };
    expect(queue.defer('a', twice, 9, 8)).toStrictEqual([
      {
        type: 'prompt.merged',
        at: 0,
        promptId: 'a',
        roundId: 'x',
        ref: 'row 1',
        dropped: [{ requestId: 'a/0#3', tokens: 7, cause: 'merged' }],
        reason: { code: 'already_queued', deferrals: 3 },
      },
    ]);
    queue.defer('b');
    expect(only(queue.request(), 'round.planned')[0]!.queued[1]).toStrictEqual({
      promptId: 'a',
      ref: 'row 1',
      expectedTokens: 50,
      deferral: { count: 3, sinceRound: 1, sinceSeconds: 0 },
      kept: [kept('a/0#0', 4, true)],
    });
  });

  test('a longer expectation moves it forward; nothing known of either stays nothing', () => {
    const queue = start({ order: 'longest-expected-first' });
    queue.defer('a', { expectedTokens: 5 });
    queue.defer('b', { expectedTokens: 6 });
    queue.defer('c');
    expect(queue.defer('a', { expectedTokens: 7 })[0]).not.toHaveProperty('ref');
    queue.defer('c', { expectedTokens: 0 });
    expect(queue.plan()).toBe('long a,b +0 queue_full');
    queue.defer('d', {}, 8);
    expect(only(queue.request(), 'round.planned')[0]!.queued[0]).toStrictEqual({
      promptId: 'c',
      deferral: { count: 2, sinceRound: 0, sinceSeconds: 0 },
    });
  });

  test('one that says nothing of its deferral is deferred once by being queued again, and keeps saying nothing', () => {
    const queue = start();
    queue.defer('a', { deferral: undefined });
    expect(queue.defer('a')[0]!.reason).toStrictEqual({ code: 'already_queued', deferrals: 1 });
    expect(queue.state.entries).toStrictEqual([{ prompt: { promptId: 'a' }, seq: 0 }]);
  });

  test('it counts once for the length of the queue, and becomes overdue by being merged', () => {
    const queue = start({ maxDeferrals: 3 });
    queue.defer('a');
    queue.defer('a');
    expect(queue.plan()).toBe('short  +3 queue_below_threshold');
    queue.defer('a');
    expect(queue.plan()).toBe('long a +1 prompt_overdue');
    expect(queue.state).toMatchObject({ entries: [] });
  });
});
