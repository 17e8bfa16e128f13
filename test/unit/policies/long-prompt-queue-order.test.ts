/** The long-prompt queue: who comes first, and who has waited too long. */
import { describe, expect, test } from 'vitest';
import { bothWays } from '../../support/sessions/queue.ts';
import { only } from '../../support/sessions/session.ts';

describe.each(bothWays)('order, %s', (_how, start) => {
  test('fifo: by the round of the first deferral, then by arrival, whatever is expected of them', () => {
    const queue = start({ promptsPerRound: 4 });
    queue.defer('c', { expectedTokens: 9 }, 2);
    queue.defer('a', {}, 1);
    queue.defer('d', { expectedTokens: 99 }, 2);
    queue.defer('b', {}, 1);
    expect(queue.plan()).toBe('long a,b,c,d +0 queue_full');
  });

  test('a prompt that says nothing of its deferral is as old as the first round', () => {
    const queue = start();
    queue.defer('b', {}, 1);
    queue.giveBack({ promptId: 'x', deferral: { count: 1, sinceRound: 2, sinceSeconds: 0 } });
    queue.defer('a', { deferral: undefined });
    expect(queue.plan()).toBe('long a,b +0 queue_full');
  });

  test('longest expected first: those of which nothing is expected last, equal ones by age, then by arrival', () => {
    const queue = start({ order: 'longest-expected-first', promptsPerRound: 6 });
    queue.defer('f', {}, 0);
    queue.defer('c', { expectedTokens: 20 }, 3);
    queue.defer('d', { expectedTokens: 20 }, 3);
    queue.defer('b', { expectedTokens: 20 }, 1);
    queue.defer('a', { expectedTokens: 30 }, 3);
    queue.defer('e', { expectedTokens: 1 }, 3);
    expect(queue.plan()).toBe('long a,b,c,d,e,f +0 queue_full');
  });

  test('a long round takes P0, and the rest stay', () => {
    const queue = start({ order: 'longest-expected-first' });
    for (const [id, expectedTokens] of Object.entries({ a: 1, b: 2, c: 3, d: 4, e: 5 }))
      queue.defer(id, { expectedTokens });
    expect([queue.plan(), queue.plan(), queue.plan()]).toStrictEqual([
      'long e,d +0 queue_full',
      'long c,b +0 queue_full',
      'short  +3 queue_below_threshold',
    ]);
    expect(queue.state).toMatchObject({ entries: [{ prompt: { promptId: 'a' } }], rounds: 3 });
  });
});

describe.each(bothWays)('no prompt starves, %s', (_how, start) => {
  test('maxWaitRounds: as many rounds after its first deferral it forces a long round, and says how long it waited', () => {
    const queue = start({ maxWaitRounds: 3 });
    for (let round = 0; round < 2; round += 1) queue.plan();
    queue.defer('a', {}, 1);
    expect([queue.plan(), queue.plan()]).toStrictEqual([
      'short  +3 queue_below_threshold',
      'short  +3 queue_below_threshold',
    ]);
    const decisions = queue.request('late', 7);
    expect(decisions).toStrictEqual([
      {
        type: 'round.planned',
        at: 0,
        roundId: 'late',
        kind: 'long',
        weightVersion: 7,
        queued: [{ promptId: 'a', deferral: { count: 1, sinceRound: 1, sinceSeconds: 0 } }],
        reason: { code: 'prompt_overdue', deferrals: 1, waitedRounds: 3 },
      },
      {
        type: 'prompts.request',
        at: 0,
        roundId: 'late',
        count: 1,
        reason: { code: 'round_opened', target: 2, known: 1 },
      },
    ]);
  });

  test('one that says nothing of its deferral waits since the first round, and was never deferred', () => {
    const queue = start({ maxWaitRounds: 1 });
    queue.plan();
    queue.defer('a', { deferral: undefined });
    expect(only(queue.request(), 'round.planned')[0]!.reason).toStrictEqual({
      code: 'prompt_overdue',
      deferrals: 0,
      waitedRounds: 1,
    });
  });

  test('maxDeferrals: as many deferrals force a long round, the oldest of those first', () => {
    const queue = start({ maxDeferrals: 3, promptsPerRound: 5 });
    queue.plan();
    queue.defer('a', {}, 0, 2);
    expect(queue.plan()).toBe('short  +8 queue_below_threshold');
    queue.defer('c', {}, 2, 3);
    queue.defer('b', {}, 1, 4);
    const [planned] = only(queue.request(), 'round.planned');
    expect(planned!.queued.map((one) => one.promptId)).toStrictEqual(['b', 'c', 'a']);
    expect(planned!.reason).toStrictEqual({ code: 'prompt_overdue', deferrals: 4, waitedRounds: 1 });
  });

  test('a prompt from a round that is yet to come has not waited: nobody waits less than no round', () => {
    const queue = start({ maxDeferrals: 1 });
    queue.defer('a', {}, 5);
    expect(only(queue.request(), 'round.planned')[0]!.reason).toStrictEqual({
      code: 'prompt_overdue',
      deferrals: 1,
      waitedRounds: 0,
    });
  });

  test('those that waited too long come before those deferred too often, and those before the longest', () => {
    const queue = start({ order: 'longest-expected-first', maxWaitRounds: 2, maxDeferrals: 2, promptsPerRound: 4 });
    for (let round = 0; round < 3; round += 1) queue.plan();
    queue.defer('long', { expectedTokens: 90 }, 2);
    queue.defer('often', { expectedTokens: 5 }, 2, 2);
    queue.defer('old', { expectedTokens: 3 }, 1);
    queue.defer('older', { expectedTokens: 1 }, 0);
    expect(queue.plan()).toBe('long older,old,often,long +0 queue_full');
  });

  test('once those are gone nothing is overdue any more', () => {
    const queue = start({ maxDeferrals: 2 });
    queue.defer('a', {}, 0, 2);
    expect(queue.plan()).toBe('long a +1 prompt_overdue');
    queue.defer('b');
    expect(queue.plan()).toBe('short  +3 queue_below_threshold');
    // It comes back, deferred once more.
    queue.defer('a', {}, 0, 3);
    expect(queue.plan()).toBe('long a,b +0 queue_full');
  });

  test('unless it is told otherwise a prompt waits for 16 rounds at most', () => {
    for (const order of ['fifo', 'longest-expected-first'] as const) {
      const queue = start({ order });
      queue.defer('a', { expectedTokens: 5 });
      for (let round = 0; round < 16; round += 1) expect(queue.plan()).toBe('short  +3 queue_below_threshold');
      expect(queue.plan()).toBe('long a +1 prompt_overdue');
    }
  });

  test('with a bound that is far away it waits for a full queue, however long', () => {
    for (const order of ['fifo', 'longest-expected-first'] as const) {
      const queue = start({ order, maxWaitRounds: 1_000_000 });
      queue.defer('a', { expectedTokens: 5 }, 0, 50);
      for (let round = 0; round < 20; round += 1) expect(queue.plan()).toBe('short  +3 queue_below_threshold');
      queue.defer('b', { expectedTokens: 6 });
      expect(queue.plan()).toBe(`long ${order === 'fifo' ? 'a,b' : 'b,a'} +0 queue_full`);
    }
  });
});
