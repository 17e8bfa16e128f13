/** The long-prompt queue: prompts that come back more than once, or beside what is queued, are one prompt. */
import { describe, expect, test } from 'vitest';
import { registry } from '../../../src/index.ts';
import { bothWays } from '../../support/sessions/queue.ts';
import { only } from '../../support/sessions/session.ts';

const kept = (requestId: string, finished = true) => ({
  requestId,
  index: 0,
  tokens: 7,
  weightVersions: [0],
  finished,
});

describe.each(bothWays)('what comes back twice, %s', (_how, start) => {
  test('a prompt that is handed back again is the same prompt: the second is dropped by name', () => {
    const queue = start();
    expect(queue.giveBack({ promptId: 'p5', ref: 'row 5' })).toStrictEqual([]);
    const again = { promptId: 'p5', ref: 'row 6', expectedTokens: 9, kept: [kept('p5/0#0'), kept('p5/1#0', false)] };
    expect(queue.giveBack(again)).toStrictEqual([
      {
        type: 'prompt.merged',
        at: 0,
        promptId: 'p5',
        roundId: 'x',
        ref: 'row 6',
        dropped: [{ requestId: 'p5/0#0', tokens: 7, cause: 'merged' }],
        reason: { code: 'already_queued', deferrals: 0 },
      },
    ]);
    const [planned] = only(queue.request(), 'round.planned');
    expect(planned!.queued).toStrictEqual([{ promptId: 'p5', ref: 'row 5', expectedTokens: 9 }]);
    expect(queue.plan()).toBe('short  +3 queue_below_threshold');
  });

  test('it keeps its place among those that came back', () => {
    const queue = start();
    for (const promptId of ['a', 'b', 'a', 'c']) queue.giveBack({ promptId });
    expect(queue.plan()).toBe('short a,b,c +0 queue_below_threshold');
  });

  test('one that is deferred beside it is queued with its deferral, and the one that came back is dropped by name', () => {
    const queue = start();
    queue.giveBack({ promptId: 'x' });
    queue.giveBack({ promptId: 'p5', ref: 'row 5', expectedTokens: 9, kept: [kept('p5/0#0')] });
    expect(queue.defer('p5', { expectedTokens: 4 })).toMatchObject([
      {
        type: 'prompt.merged',
        promptId: 'p5',
        ref: 'row 5',
        dropped: [{ requestId: 'p5/0#0', tokens: 7, cause: 'merged' }],
        reason: { code: 'already_queued', deferrals: 1 },
      },
    ]);
    expect(queue.plan()).toBe('short x +2 queue_below_threshold');
    queue.defer('y');
    const [planned] = only(queue.request(), 'round.planned');
    expect(planned!.queued).toMatchObject([
      { promptId: 'p5', expectedTokens: 9, deferral: { count: 1 } },
      { promptId: 'y' },
    ]);
  });

  test('one that comes back while it is queued stays where it is, and was not deferred once more', () => {
    const queue = start();
    queue.defer('p5');
    queue.defer('y');
    expect(queue.giveBack({ promptId: 'p5', kept: [kept('p5/0#1')] })).toMatchObject([
      { promptId: 'p5', dropped: [{ requestId: 'p5/0#1' }], reason: { code: 'already_queued', deferrals: 1 } },
    ]);
    expect(queue.plan()).toBe('long p5,y +0 queue_full');
    expect(queue.plan()).toBe('short  +3 queue_below_threshold');
  });
});

test('a snapshot of version 2, which could hold a prompt twice, is refused', () => {
  const [[, start]] = bothWays;
  const snapshot = start().policy.snapshot() as object;
  expect(() => registry.restore({ ...snapshot, version: 2 } as never)).toThrow(
    expect.objectContaining({ code: 'snapshot_mismatch', path: 'snapshot.version', got: '2' }),
  );
});
