/** A restart of the host: what is done leaves, what is owed is named, and no slot stays taken. */
import { describe, expect, test } from 'vitest';
import { create, frontierGroupDispatch, registry } from '../../../src/index.ts';
import type {
  FrontierGroupDispatchDecision,
  FrontierGroupDispatchInput,
} from '../../../src/policies/frontier-group-dispatch/index.ts';

/** A policy with short ways to send the usual events. */
function start(config: Partial<FrontierGroupDispatchInput> = {}) {
  let policy = create(frontierGroupDispatch, { responsesPerPrompt: 1, width: 1, ...config });
  const send = (event: object): FrontierGroupDispatchDecision[] =>
    policy.send({ at: 0, ...event } as never) as FrontierGroupDispatchDecision[];
  return {
    send,
    get state() {
      return policy.snapshot().state as { groups: { promptId: string; since: number | null }[]; width: number };
    },
    arrive: (requestId: string, promptId: string, roundId = 'r1', index = 0, more: object = {}) =>
      send({ type: 'request.arrived', requestId, promptId, roundId, index, ...more }),
    complete: (requestId: string) => send({ type: 'response.completed', requestId, tokens: 10 }),
    fail: (requestId: string) => send({ type: 'response.failed', requestId, kind: 'infrastructure' }),
    abort: (requestId: string) =>
      send({ type: 'request.abort', requestId, promptId: 'a', reason: { code: 'round_completed', counted: 1 } }),
    /** What is left is saved, and another host goes on from it. */
    restart(idPrefix = 'R') {
      policy = registry.restore(JSON.parse(JSON.stringify(policy.snapshot()))) as never;
      return send({ type: 'host.restarted', idPrefix });
    },
  };
}

const types = (decisions: readonly FrontierGroupDispatchDecision[]): string[] => decisions.map((one) => one.type);
/** Responses that the host is to bring a request for: each is named once. */
const asked = (decisions: readonly FrontierGroupDispatchDecision[]): string[] =>
  decisions.flatMap((one) => {
    const isOwed = one.type === 'request.dropped' && one.reason.code === 'host_restarted';
    return one.type === 'request.awaited' || isOwed ? [`${one.roundId} ${one.promptId}/${one.index}`] : [];
  });

/** Everything that closes the group of prompt `a`. */
const closings = {
  'round.failed': { roundId: 'r1' },
  'round.completed': {
    roundId: 'r1',
    kind: 'short',
    weightVersion: 1,
    prompts: [],
    openedSeconds: 0,
    deferred: 0,
    reason: { code: 'quota_reached', counted: 1, needed: 1 },
  },
  'prompt.deferred': {
    prompt: { promptId: 'a' },
    roundId: 'r1',
    dropped: [],
    reason: { code: 'round_completed', held: 0, needed: 1 },
  },
  'prompt.collected': {
    promptId: 'a',
    roundId: 'r1',
    requestIds: [],
    reason: { code: 'responses_held', held: 1, launched: 2 },
  },
  'prompt.failed': {
    promptId: 'a',
    roundId: 'r1',
    dropped: [],
    reason: { code: 'data', failures: 1, budget: 0 },
  },
} as const;
const launch = { type: 'request.launch', weightVersion: 1, reason: { code: 'planned', inFlight: 0 } } as const;

describe('a group that is closed and waits for what runs leaves with the host that ran it', () => {
  test.each(Object.entries(closings))('%s', (type, closing) => {
    const one = start();
    one.arrive('a0', 'a');
    expect(one.send({ type, ...closing })).toEqual([]);
    expect(one.restart()).toMatchObject([
      { type: 'request.dropped', requestId: 'a0', admitted: true, reason: { code: 'closed' } },
      { type: 'group.left', promptId: 'a', roundId: 'r1', requestIds: [], reason: { completed: 0, givenUp: 1 } },
    ]);
    expect(types(one.arrive('Rb0', 'b', 'r2'))).toEqual(['request.admit']);
  });

  test('the one that replaces a prompt that was given up runs, in the same round', () => {
    const one = start();
    one.send({ ...launch, requestId: 'a0', promptId: 'a', roundId: 'r1', index: 0 });
    one.send({ type: 'prompt.failed', ...closings['prompt.failed'] });
    one.send({ ...launch, requestId: 'b0', promptId: 'b', roundId: 'r1', index: 0 });
    expect(asked(one.restart())).toEqual(['r1 b/0']);
    const again = { ...launch, requestId: 'Rb0', promptId: 'b', roundId: 'r1', index: 0 };
    expect(types(one.send(again))).toEqual(['request.admit']);
    expect(types(one.complete('Rb0'))).toEqual(['group.left']);
  });

  test('its slot goes to what has come since, under the new prefix', () => {
    const one = start();
    one.arrive('a0', 'a');
    one.send({ type: 'prompt.collected', ...closings['prompt.collected'] });
    expect(types(one.arrive('Rb0', 'b'))).toEqual(['request.deferred']);
    expect(types(one.restart())).toEqual(['request.dropped', 'group.left', 'request.admit']);
  });
});

describe('what was to stop is not asked for again', () => {
  test('an abort that was not confirmed', () => {
    const one = start();
    one.arrive('a0', 'a');
    expect(one.abort('a0')).toEqual([]);
    expect(one.restart()).toMatchObject([
      { type: 'request.dropped', requestId: 'a0', admitted: true, reason: { code: 'aborted' } },
      { type: 'group.left', promptId: 'a', reason: { code: 'all_ended', completed: 0, givenUp: 1 } },
    ]);
    expect(types(one.arrive('Rb0', 'b', 'r2'))).toEqual(['request.admit']);
  });

  test('beside it, the others of its group are', () => {
    const one = start({ responsesPerPrompt: 2 });
    one.arrive('a0', 'a');
    one.arrive('a1', 'a', 'r1', 1);
    one.abort('a0');
    expect(asked(one.restart())).toEqual(['r1 a/1']);
    one.arrive('Ra1', 'a', 'r1', 1);
    expect(types(one.complete('Ra1'))).toEqual(['group.left']);
  });

  test('nor is a try awaited of what fails while it is to stop', () => {
    const one = start({ awaitRetries: true });
    one.arrive('a0', 'a');
    one.abort('a0');
    expect(types(one.fail('a0'))).toEqual(['group.left']);
  });

  test('an abort that came too late: what is complete is complete', () => {
    const one = start();
    one.arrive('a0', 'a');
    one.abort('a0');
    expect(one.complete('a0')).toMatchObject([{ type: 'group.left', reason: { completed: 1, givenUp: 0 } }]);
  });

  test('responses beyond K: the group has what it needs', () => {
    const one = start();
    one.arrive('a0', 'a');
    one.arrive('a1', 'a', 'r1', 1);
    one.complete('a0');
    expect(one.restart()).toMatchObject([
      { type: 'request.dropped', requestId: 'a1', admitted: true, reason: { code: 'closed' } },
      { type: 'group.left', requestIds: ['a0'], reason: { code: 'all_ended', completed: 1 } },
    ]);
  });
});

describe('what is owed is named again', () => {
  test('what ran and what waited, by its request; what has none, with the `ref` of its prompt', () => {
    const one = start({ responsesPerPrompt: 2 });
    one.arrive('a0', 'a', 'r1', 0, { ref: 'body of a' });
    one.arrive('b0', 'b');
    expect(one.restart()).toMatchObject([
      { type: 'request.dropped', requestId: 'a0', admitted: true, reason: { code: 'host_restarted' } },
      { type: 'request.dropped', requestId: 'b0', admitted: false, reason: { code: 'host_restarted' } },
      { type: 'request.awaited', promptId: 'a', roundId: 'r1', index: 1, ref: 'body of a' },
      { type: 'request.awaited', promptId: 'b', roundId: 'r1', index: 1 },
    ]);
  });

  test('the next try of a response that has failed, with `awaitRetries`', () => {
    const one = start({ awaitRetries: true });
    one.arrive('a0', 'a');
    one.fail('a0');
    expect(one.restart()).toMatchObject([
      { type: 'request.awaited', promptId: 'a', roundId: 'r1', index: 0, reason: { code: 'host_restarted' } },
    ]);
    expect(types(one.arrive('Ra0', 'a'))).toEqual(['request.dropped', 'request.admit']);
    expect(types(one.complete('Ra0'))).toEqual(['group.left']);
  });

  test('a request that has not come yet', () => {
    const one = start({ responsesPerPrompt: 2, awaitRetries: true });
    one.arrive('a1', 'a', 'r1', 1);
    one.complete('a1');
    expect(asked(one.restart())).toEqual(['r1 a/0']);
    one.arrive('Ra0', 'a');
    expect(types(one.complete('Ra0'))).toEqual(['group.left']);
  });

  test('nothing of a group that is done, nor what has come since, nor what has failed for good', () => {
    const one = start({ responsesPerPrompt: 2, width: 3 });
    one.arrive('a0', 'a');
    one.arrive('a1', 'a', 'r1', 1);
    one.complete('a0');
    one.fail('a1');
    one.arrive('b0', 'b');
    one.arrive('Rb1', 'b', 'r1', 1);
    one.fail('b0');
    expect(one.restart()).toEqual([]);
    expect(types(one.complete('Rb1'))).toEqual(['group.left']);
  });

  test('as many as the group needs, of more than K that ran', () => {
    const one = start({ responsesPerPrompt: 2, awaitRetries: true });
    for (const index of [3, 2, 1, 0]) one.arrive(`a${index}`, 'a', 'r1', index);
    one.fail('a0');
    one.complete('a2');
    expect(one.restart()).toMatchObject([
      { type: 'request.dropped', requestId: 'a1', reason: { code: 'closed' } },
      { type: 'request.dropped', requestId: 'a3', reason: { code: 'closed' } },
      { type: 'request.awaited', index: 0 },
    ]);
    one.arrive('Ra0', 'a');
    expect(one.complete('Ra0')).toMatchObject([{ type: 'group.left', reason: { completed: 2, givenUp: 2 } }]);
  });

  test('also where the new prefix is the beginning of an earlier one', () => {
    const one = start({ idPrefix: 'R1-' });
    one.arrive('R1-a0', 'a');
    expect(asked(one.restart('R'))).toEqual(['r1 a/0']);
    one.arrive('Ra0', 'a');
    expect(asked(one.restart(''))).toEqual(['r1 a/0']);
  });

  test('again with every restart, until it has come', () => {
    const one = start();
    one.arrive('a0', 'a');
    for (const prefix of ['R', 'S', 'T']) expect(asked(one.restart(prefix))).toEqual(['r1 a/0']);
    expect(types(one.arrive('Ta0', 'a'))).toEqual(['request.admit']);
  });
});

describe('slots after a restart', () => {
  test('a deferred group of which nothing waits takes none', () => {
    const one = start();
    for (const id of ['a', 'b', 'c']) one.arrive(`${id}0`, id);
    one.restart();
    one.arrive('Rc0', 'c');
    one.arrive('Ra0', 'a');
    // The slot of a is not for b, which has not come yet.
    expect(types(one.complete('Ra0'))).toEqual(['group.left', 'request.admit']);
    expect(one.state.groups.map((group) => [group.promptId, group.since === null])).toEqual([
      ['b', true],
      ['c', false],
    ]);
    expect(types(one.arrive('Rb0', 'b'))).toEqual(['request.deferred']);
  });

  test('`auto` does not widen for what is not there', () => {
    const one = start({ responsesPerPrompt: 2, width: 'auto', startRequests: 8 });
    const group = (prefix: string, id: string) => {
      return [0, 1].flatMap((index) => one.arrive(`${prefix}${id}/${index}`, id, 'r1', index));
    };
    for (let id = 0; id < 12; id += 1) group('', `p${id}`);
    one.send({ type: 'response.completed', requestId: 'p0/0', tokens: 10, at: 4 });
    expect(one.state.width).toBe(4);
    expect(types(one.restart()).filter((type) => type === 'frontier.resized')).toEqual([]);
    // Those in service are owed their requests: there is room for no other group.
    for (const id of ['p9', 'p8', 'p7'])
      expect(types(group('R', id))).toEqual(['request.deferred', 'request.deferred']);
    for (let id = 1; id < 4; id += 1) group('R', `p${id}`);
    expect(one.state.width).toBe(4);
    expect(one.state.groups.filter((each) => each.since !== null)).toHaveLength(4);
  });
});
