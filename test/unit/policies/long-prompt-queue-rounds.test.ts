/** The long-prompt queue: what rounds are planned, what they begin with, what they ask for, and when nothing is left. */
import { describe, expect, test } from 'vitest';
import { create, longPromptQueue } from '../../../src/index.ts';
import { bothWays } from '../../support/sessions/queue.ts';
import { only } from '../../support/sessions/session.ts';

describe.each(bothWays)('rounds, %s', (_how, start) => {
  test('a short round: its reason, and what it asks for; queued prompts stay', () => {
    const queue = start();
    queue.defer('a');
    expect(queue.request('r7', 3)).toStrictEqual([
      {
        type: 'round.planned',
        at: 0,
        roundId: 'r7',
        kind: 'short',
        weightVersion: 3,
        queued: [],
        reason: { code: 'queue_below_threshold', queued: 1, promptsPerRound: 2 },
      },
      {
        type: 'prompts.request',
        at: 0,
        roundId: 'r7',
        count: 3,
        reason: { code: 'round_opened', target: 3, known: 0 },
      },
    ]);
    queue.defer('b');
    expect(queue.request('r8', 4)).toStrictEqual([
      expect.objectContaining({
        kind: 'long',
        weightVersion: 4,
        reason: { code: 'queue_full', queued: 2, promptsPerRound: 2 },
      }),
    ]);
  });

  test('prompts that came back unused go in first come first, as many as there is room for, before any are asked for', () => {
    const queue = start();
    for (const promptId of ['a', 'b', 'c', 'd']) expect(queue.giveBack({ promptId, ref: promptId })).toStrictEqual([]);
    expect(queue.plan()).toBe('short a,b,c +0 queue_below_threshold');
    expect(queue.plan()).toBe('short d +2 queue_below_threshold');
    expect(queue.plan()).toBe('short  +3 queue_below_threshold');
  });

  test('they fill up a long round that is forced, but not one that is full', () => {
    const queue = start({ maxDeferrals: 1, promptsPerRound: 3, promptSpeculation: 1 });
    for (const promptId of ['x', 'y', 'z']) queue.giveBack({ promptId });
    queue.defer('a');
    expect(queue.plan()).toBe('long a,x,y +0 prompt_overdue');
    for (const promptId of ['b', 'c', 'd', 'e']) queue.defer(promptId);
    expect(queue.plan()).toBe('long b,c,d +0 queue_full');
    expect(queue.plan()).toBe('long e,z +1 prompt_overdue');
  });

  test('one that was deferred before goes back to its place when it is handed back', () => {
    const queue = start();
    queue.defer('b', {}, 1);
    queue.giveBack({ promptId: 'a', deferral: { count: 4, sinceRound: 0, sinceSeconds: 2 } });
    expect(queue.giveBack({ promptId: 'b', deferral: { count: 1, sinceRound: 1, sinceSeconds: 0 } })).toMatchObject([
      { type: 'prompt.merged', promptId: 'b' },
    ]);
    const [planned] = only(queue.request(), 'round.planned');
    expect(planned!.queued).toStrictEqual([
      { promptId: 'a', deferral: { count: 4, sinceRound: 0, sinceSeconds: 2 } },
      { promptId: 'b', deferral: { count: 2, sinceRound: 1, sinceSeconds: 0 } },
    ]);
  });

  test('ids of rounds are used once', () => {
    const queue = start();
    queue.request('r0');
    const again = { type: 'round.requested', at: 0, roundId: 'r0', weightVersion: 0 };
    queue.refuses(again, 'duplicate_id', 'roundId');
    expect(() => queue.request('r0')).toThrow(/a new round id.*r0/);
  });
});

describe.each(bothWays)('a source at its end, %s', (_how, start) => {
  test('what is queued comes in long rounds, the last of them smaller, then what came back; nothing is asked for', () => {
    const queue = start();
    for (const promptId of ['x', 'y']) queue.giveBack({ promptId });
    for (const promptId of ['a', 'b', 'c']) queue.defer(promptId);
    queue.exhaust();
    expect(queue.plan()).toBe('long a,b +0 queue_full');
    const [planned] = only(queue.request(), 'round.planned');
    expect(planned).toMatchObject({ kind: 'long', reason: { code: 'source_exhausted', queued: 1 } });
    expect(planned!.queued.map((one) => one.promptId)).toStrictEqual(['c', 'x']);
    expect(queue.plan()).toBe('long y +0 source_exhausted');
    expect(queue.request('end')).toStrictEqual([
      { type: 'source.drained', at: 0, roundId: 'end', reason: { code: 'source_exhausted' } },
    ]);
    // No round was planned: its id is free, and no round has passed.
    expect(queue.state).toMatchObject({ rounds: 3 });
    queue.send({ type: 'source.reopened' } as never);
    expect(queue.request('end')).toMatchObject([{ type: 'round.planned', kind: 'short' }, { count: 3 }]);
  });

  test('one domain at its end is not the end', () => {
    const queue = start();
    queue.exhaust('math');
    expect(queue.plan()).toBe('short  +3 queue_below_threshold');
    queue.exhaust();
    queue.exhaust('math');
    expect(queue.plan()).toBe('source.drained');
  });
});

describe('settings and ledgers', () => {
  test('a short round asks for a quarter more if nothing is said', () => {
    const queue = create(longPromptQueue, { promptsPerRound: 8 });
    expect(queue.send({ type: 'round.requested', at: 0, roundId: 'r', weightVersion: 0 })).toMatchObject([
      {},
      { count: 10 },
    ]);
  });

  test.each([
    [{ promptsPerRound: 0 }, 'promptsPerRound'],
    [{ order: 'shortest' }, 'order'],
    [{ maxDeferrals: 0 }, 'maxDeferrals'],
    [{ maxWaitRounds: 1.5 }, 'maxWaitRounds'],
    [{ eta: 2 }, 'eta'],
  ])('configuration %j is refused', (config, path) => {
    expect(() => create(longPromptQueue, { promptsPerRound: 2, ...config } as never)).toThrow(
      expect.objectContaining({ code: 'invalid_config', path }),
    );
  });

  test('a snapshot says whose it is', () => {
    const queue = create(longPromptQueue, { promptsPerRound: 8 });
    expect(queue.snapshot()).toMatchObject({ policy: 'long-prompt-queue', version: 4 });
  });

  const kept = (requestId: string, finished: boolean) => ({
    requestId,
    index: 0,
    tokens: 1,
    weightVersions: [0],
    finished,
  });
  const a = { promptId: 'a', kept: [kept('a/0#0', true), kept('a/1#0', false)] };
  const b = { promptId: 'b' };
  const [prompts, responses] = longPromptQueue.ledgers;
  const both = (what: 'entered' | 'left' | 'held', given: object) => [
    prompts![what](given as never),
    responses![what](given as never),
  ];

  test('a prompt comes in with what is finished of it, deferred or returned, and by nothing else', () => {
    expect([prompts!.name, responses!.name]).toStrictEqual(['prompts', 'responses']);
    for (const type of ['prompt.deferred', 'prompt.returned']) {
      expect(both('entered', { type, prompt: a })).toStrictEqual([['a'], ['a/0#0']]);
    }
    expect(both('entered', { type: 'round.requested', prompt: a })).toStrictEqual([[], []]);
  });

  test('it leaves with a round, or by being merged with what is dropped of it', () => {
    expect(both('left', { type: 'round.planned', queued: [a, b] })).toStrictEqual([['a', 'b'], ['a/0#0']]);
    expect(both('left', { type: 'prompt.merged', promptId: 'a', dropped: [{ requestId: 'a/0#1' }] })).toStrictEqual([
      ['a'],
      ['a/0#1'],
    ]);
    expect(both('left', { type: 'prompts.request', promptId: 'a', dropped: [], queued: [a] })).toStrictEqual([[], []]);
  });

  test('it is held in the queue, or among those that came back unused', () => {
    expect(both('held', { entries: [{ prompt: b, seq: 0 }], unused: [a] })).toStrictEqual([['b', 'a'], ['a/0#0']]);
  });
});
