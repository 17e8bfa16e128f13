/** Rounds that are empty for a moment, that are never ended, and that share a prompt; and snapshots. */
import { describe, expect, test } from 'vitest';
import { create, frontierGroupDispatch, type PolicyOf, registry } from '../../../src/index.ts';
import type {
  FrontierGroupDispatchDecision,
  FrontierGroupDispatchInput,
} from '../../../src/policies/frontier-group-dispatch/index.ts';
import { groupKey } from '../../../src/schemas/moves.ts';
import { refusal } from '../../support/basics/refusal.ts';

/** A policy with short ways to send the usual events. */
function start(config: Partial<FrontierGroupDispatchInput> = {}) {
  let policy = create(frontierGroupDispatch, { responsesPerPrompt: 1, width: 1, ...config });
  const send = (event: object): FrontierGroupDispatchDecision[] =>
    policy.send({ at: 0, ...event } as never) as FrontierGroupDispatchDecision[];
  return {
    send,
    restore: () => void (policy = registry.restore(JSON.parse(JSON.stringify(policy.snapshot()))) as never),
    arrive: (requestId: string, promptId: string, roundId = 'r1', index = 0, more: object = {}) =>
      send({ type: 'request.arrived', requestId, promptId, roundId, index, ...more }),
    complete: (requestId: string) => send({ type: 'response.completed', requestId, tokens: 10 }),
    fail: (requestId: string) => send({ type: 'response.failed', requestId, kind: 'infrastructure' }),
    get rounds() {
      return (policy.snapshot().state as { rounds: { roundId: string }[] }).rounds.map((one) => one.roundId);
    },
    get size() {
      return JSON.stringify(policy.snapshot()).length;
    },
  };
}

const types = (decisions: readonly FrontierGroupDispatchDecision[]): string[] => decisions.map((one) => one.type);
const admitted = (decisions: readonly FrontierGroupDispatchDecision[]): string[] =>
  decisions.flatMap((one) => (one.type === 'request.admit' ? [one.requestId] : []));
const collected = (promptId: string, roundId: string) => {
  const reason = { code: 'responses_held', held: 1, launched: 2 };
  return { type: 'prompt.collected', promptId, roundId, requestIds: [], reason };
};

describe('a round that is empty for a moment', () => {
  test('is served before those that began after it', () => {
    const one = start();
    one.arrive('a0', 'a', 'r1');
    one.complete('a0');
    one.arrive('b0', 'b', 'r2');
    one.arrive('c0', 'c', 'r2');
    one.restore();
    one.arrive('d0', 'd', 'r1');
    expect(admitted(one.complete('b0'))).toEqual(['d0']);
  });

  test('goes on with the orders that it has given', () => {
    const one = start();
    for (const id of ['a', 'b']) {
      one.arrive(`${id}0`, id, 'r1');
      one.complete(`${id}0`);
    }
    one.arrive('c0', 'c', 'r2');
    expect(one.arrive('d0', 'd', 'r1')).toMatchObject([{ type: 'request.deferred', reason: { order: 2 } }]);
  });

  test('still knows which groups have left', () => {
    const one = start({ responsesPerPrompt: 2 });
    one.arrive('a0', 'a', 'r1');
    one.arrive('a1', 'a', 'r1', 1);
    one.complete('a0');
    one.fail('a1');
    one.arrive('b0', 'b', 'r2');
    one.restore();
    expect(refusal(() => one.arrive('a2', 'a', 'r1', 1))).toMatchObject({ code: 'out_of_order', path: 'promptId' });
  });

  test('takes nothing more once it has ended, and is forgotten with the beginning of the next', () => {
    const one = start();
    one.arrive('a0', 'a', 'r1');
    one.complete('a0');
    one.send({ type: 'round.failed', roundId: 'r1' });
    expect(refusal(() => one.arrive('c0', 'c', 'r1'))).toMatchObject({ code: 'out_of_order', path: 'roundId' });
    one.arrive('b0', 'b', 'r2');
    expect(one.rounds).toEqual(['r2']);
  });
});

describe('names that never repeat', () => {
  const sizes = (
    play: (one: ReturnType<typeof start>, turn: number) => void,
    config: Partial<FrontierGroupDispatchInput> = {},
  ) => {
    const one = start(config);
    // Two thousand lengths are remembered; after that nothing grows.
    return [2200, 4400].map((until, at) => {
      for (let turn = at * 2200; turn < until; turn += 1) play(one, turn);
      return one.size;
    });
  };
  const name = (turn: number): string => String(10_000 + turn);

  test.each([false, true])('the groups of a round that is never ended (`awaitRetries`: %s)', (awaitRetries) => {
    const [once, twice] = sizes(
      (one, turn) => {
        one.arrive(`a${name(turn)}`, `p${name(turn)}`);
        one.complete(`a${name(turn)}`);
      },
      { awaitRetries },
    );
    expect(Math.abs(twice! - once!)).toBeLessThan(20);
  });

  test.each([0, 1])('rounds that are never ended, each with %d groups that stay for a round', (groups) => {
    const [once, twice] = sizes(
      (one, turn) => {
        one.arrive(`a${name(turn)}`, `p${name(turn)}`, `r${name(turn)}`);
        one.complete(`a${name(turn - groups)}`);
      },
      { width: 2 },
    );
    expect(Math.abs(twice! - once!)).toBeLessThan(20);
  });

  test('rounds that end while something of them runs', () => {
    const [once, twice] = sizes(
      (one, turn) => {
        one.arrive(`a${name(turn)}`, `p${name(turn)}`, `r${name(turn)}`);
        one.send({ type: 'round.failed', roundId: `r${name(turn)}` });
        one.complete(`a${name(turn - 1)}`);
      },
      { width: 2 },
    );
    expect(Math.abs(twice! - once!)).toBeLessThan(20);
  });
});

describe('a prompt in two rounds', () => {
  test('is refused in the second while the first has not closed it', () => {
    const one = start();
    one.arrive('a0', 'a', 'r1');
    expect(refusal(() => one.arrive('a1', 'a', 'r2'))).toMatchObject({ code: 'duplicate_id', path: 'roundId' });
    one.send({ type: 'host.restarted', idPrefix: 'R' });
    expect(refusal(() => one.arrive('Ra1', 'a', 'r2'))).toMatchObject({ code: 'duplicate_id', path: 'roundId' });
    one.arrive('Ra0', 'a', 'r1');
    expect(one.complete('Ra0')).toMatchObject([{ type: 'group.left', promptId: 'a', roundId: 'r1' }]);
    expect(types(one.arrive('Ra1', 'a', 'r2'))).toEqual(['request.admit']);
  });

  test('is a new group in the second once it was closed: the one of the first leaves, with what still runs of it', () => {
    const one = start({ responsesPerPrompt: 2, width: 2 });
    one.arrive('a0', 'a', 'r1');
    one.arrive('a1', 'a', 'r1', 1);
    one.complete('a0');
    one.arrive('b0', 'b', 'r1');
    one.arrive('c0', 'c', 'r1');
    expect(one.send(collected('a', 'r1'))).toEqual([]);
    // The response of an index that was complete in the first round is another one in the second.
    expect(one.arrive('a2', 'a', 'r2')).toMatchObject([
      { type: 'group.left', promptId: 'a', roundId: 'r1', requestIds: ['a0', 'a1'], reason: { givenUp: 1 } },
      { type: 'request.admit', promptId: 'c', roundId: 'r1' },
      { type: 'request.deferred', promptId: 'a', roundId: 'r2' },
    ]);
    expect(types(one.complete('a1'))).toEqual(['response.late']);
  });

  test('what is said of it in the first, late or twice, is not of the group in the second', () => {
    const one = start({ responsesPerPrompt: 2 });
    one.arrive('a0', 'a', 'r1');
    one.send(collected('a', 'r1'));
    one.complete('a0');
    one.arrive('a1', 'a', 'r2');
    expect(one.send(collected('a', 'r1'))).toEqual([]);
    const reason = { code: 'data', failures: 1, budget: 0 };
    expect(one.send({ type: 'prompt.failed', promptId: 'a', roundId: 'r1', dropped: [], reason })).toEqual([]);
    // Its other response is still to come.
    expect(one.complete('a1')).toEqual([]);
    expect(types(one.arrive('a2', 'a', 'r2', 1))).toEqual(['request.admit']);
  });
});

describe('what is dropped says whether an engine has it', () => {
  const replaced = (one: ReturnType<typeof start>) => one.arrive('a9', 'a')[0];

  test.each([
    ['runs', true, false, () => {}],
    ['has failed', false, true, (one: ReturnType<typeof start>) => one.fail('a0')],
    [
      'was aborted',
      false,
      true,
      (one: ReturnType<typeof start>) => one.send({ type: 'request.aborted', requestId: 'a0' }),
    ],
  ] as const)('one that %s, and another takes its place', (_, isRunning, ended, happens) => {
    const one = start({ responsesPerPrompt: 2, awaitRetries: true });
    one.arrive('a0', 'a');
    happens(one);
    expect(replaced(one)).toMatchObject({
      type: 'request.dropped',
      requestId: 'a0',
      admitted: isRunning,
      reason: { code: 'replaced', ended },
    });
  });

  test('one that waits', () => {
    const one = start();
    one.arrive('z0', 'z');
    one.arrive('a0', 'a');
    expect(replaced(one)).toMatchObject({
      requestId: 'a0',
      admitted: false,
      reason: { code: 'replaced', ended: false },
    });
  });
});

test('a group in which a try is awaited that it needs keeps its slot, though K of its requests have ended', () => {
  const one = start({ responsesPerPrompt: 2, awaitRetries: true });
  for (const index of [0, 1, 2]) one.arrive(`a${index}`, 'a', 'r1', index);
  one.complete('a0');
  one.send({ type: 'request.aborted', requestId: 'a1' });
  expect(one.fail('a2')).toEqual([]);
  one.arrive('a3', 'a', 'r1', 2);
  expect(one.complete('a3')).toMatchObject([{ type: 'group.left', reason: { completed: 2, givenUp: 1 } }]);
});

test.each([
  ['response.failed', { kind: 'infrastructure' }],
  ['response.dropped', { promptId: 'b', tokens: 5, finished: true, reason: { code: 'no_reward' } }],
])('%s of a request that waits: it is not admitted, and its next try is', (type, more) => {
  const one = start({ awaitRetries: true });
  one.arrive('a0', 'a');
  one.arrive('b0', 'b');
  expect(one.send({ type, requestId: 'b0', ...more })).toMatchObject([
    { type: 'request.dropped', requestId: 'b0', admitted: false, reason: { code: 'aborted' } },
  ]);
  expect(admitted(one.complete('a0'))).toEqual([]);
  expect(admitted(one.arrive('b1', 'b'))).toEqual(['b1']);
});

describe('a snapshot', () => {
  const saved = (left: string[]) => ({
    policy: 'frontier-group-dispatch',
    version: 3,
    config: { responsesPerPrompt: 1, width: 1 },
    state: {
      rounds: [{ roundId: 'r1', ordinal: 0, nextOrder: 3 }],
      groups: [
        {
          promptId: 'c',
          roundId: 'r1',
          order: 2,
          seq: 2,
          since: 0,
          isClosing: true,
          places: [
            {
              requestId: 'c0',
              index: 0,
              status: 'open',
              isHeld: false,
              tokens: 0,
              mark: { since: 0, clock: 0, requests: 0, context: 0 },
            },
          ],
        },
      ],
      endedRounds: [],
      left,
      pace: frontierGroupDispatch.save(
        frontierGroupDispatch.init(frontierGroupDispatch.config.parse({ responsesPerPrompt: 1, width: 1 })),
      ).pace,
      oldPrefixes: [''],
      prefix: 'h-',
      width: 1,
      newest: 'r1',
      seq: 3,
      roundSeq: 1,
    },
    seq: 6,
    at: 3,
  });

  test('says which groups have left, by round and prompt: the last of them are kept', () => {
    const policy = registry.restore(saved([groupKey('r1', 'a'), groupKey('r1', 'b')])) as never as PolicyOf<
      typeof frontierGroupDispatch
    >;
    const arrived = {
      type: 'request.arrived',
      at: 4,
      requestId: 'h-b1',
      promptId: 'b',
      roundId: 'r1',
      index: 0,
    } as const;
    expect(refusal(() => policy.send(arrived))).toMatchObject({ code: 'out_of_order', path: 'promptId' });
    expect(policy.snapshot()).toMatchObject({ version: 3, state: { rounds: [{ roundId: 'r1', nextOrder: 3 }] } });
    const many = registry.restore(saved(Array.from({ length: 1000 }, (_, index) => `p${index}`)));
    expect((many.snapshot().state as { left: string[] }).left).toHaveLength(64);
  });

  test('has slots that a restart has left taken: the next one frees them', () => {
    const policy = registry.restore(saved([])) as never as PolicyOf<typeof frontierGroupDispatch>;
    expect(policy.send({ type: 'host.restarted', at: 4, idPrefix: 'i-' }).map((one) => one.type)).toEqual([
      'group.left',
    ]);
  });

  test('what is damaged is refused by its path', () => {
    for (const state of [null, { rounds: [null] }, { rounds: [{ roundId: 'r1', left: 'a' }] }]) {
      expect(refusal(() => registry.restore({ ...saved([]), state }))).toMatchObject({ code: 'snapshot_mismatch' });
    }
    for (const version of [1, 2]) {
      const path = 'snapshot.version';
      expect(refusal(() => registry.restore({ ...saved([]), version }))).toMatchObject({
        code: 'snapshot_mismatch',
        path,
      });
    }
  });
});
