import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { Heap, IndexedHeap } from '../../../src/core/collections/heap.ts';
import * as root from '../../../src/index.ts';
import {
  create,
  createRegistry,
  groupAssembly,
  type ListenerFailure,
  longPromptQueue,
  microBatches,
  PolicyError,
  recordEvents,
  registry,
  replayEvents,
  runPlanner,
  speculativeAdmission,
} from '../../../src/index.ts';

const admission = () =>
  create(speculativeAdmission, { promptsPerRound: 1, responsesPerPrompt: 1, promptSpeculation: 1 });
const opening = {
  type: 'round.opened' as const,
  at: 0,
  roundId: 'r',
  kind: 'short' as const,
  weightVersion: 0,
  prompts: [{ promptId: 'a' }],
};

describe('send', () => {
  test('a listener hears committed state, and what it sends is queued behind the event', () => {
    const policy = admission();
    const heard: string[] = [];
    policy.on('request.launch', ({ requestId }) => {
      expect(policy.seq).toBe(1);
      expect(policy.send({ type: 'response.completed', at: 1, requestId, tokens: 3 })).toEqual([]);
      expect(policy.seq).toBe(1);
    });
    policy.on('decision', ({ type }) => heard.push(type));
    const decisions = policy.send(opening).map((one) => one.type);
    expect(decisions.slice(0, 3)).toEqual(['request.launch', 'request.launch', 'response.accepted']);
    expect(heard).toEqual(decisions);
    expect(decisions).toContain('round.completed');
  });

  test('an error in a listener reaches neither the sender nor the listeners after it', () => {
    const policy = admission();
    const failures: ListenerFailure[] = [];
    let heard = 0;
    policy.on('listener.error', (failure) => failures.push(failure));
    policy.on('request.launch', () => {
      throw new Error('no');
    });
    policy.on('request.launch', () => {
      heard += 1;
    });
    policy.send(opening);
    expect([heard, failures.length, (failures[0]!.error as Error).message]).toEqual([2, 2, 'no']);
  });

  test('an event that a listener sends and that is refused is told to listener.error', () => {
    const policy = admission();
    const failures: ListenerFailure[] = [];
    policy.on('listener.error', (failure) => failures.push(failure));
    policy.once('request.launch', () => void policy.send({ ...opening, roundId: 'again' }));
    policy.send(opening);
    expect(failures).toMatchObject([{ event: { roundId: 'again' }, error: { code: 'out_of_order' } }]);
  });

  test('off and once stop listening', () => {
    const policy = create(longPromptQueue, { promptsPerRound: 1 });
    let heard = 0;
    const listener = () => {
      heard += 1;
    };
    policy.on('round.planned', listener);
    policy.off('round.planned', listener);
    policy.once('round.planned', listener);
    for (const roundId of ['a', 'b']) policy.send({ type: 'round.requested', at: 0, roundId, weightVersion: 0 });
    expect(heard).toBe(1);
  });

  test('handle listens for every command, and for nothing else', () => {
    const policy = create(longPromptQueue, { promptsPerRound: 1 });
    const counts: number[] = [];
    policy.handle({ 'prompts.request': ({ count }) => void counts.push(count) });
    policy.send({ type: 'round.requested', at: 0, roundId: 'r', weightVersion: 0 });
    expect(counts).toEqual([2]);
    // @ts-expect-error a command is missing
    expect(() => policy.handle({})).toThrow(
      expect.objectContaining({ code: 'invalid_input', path: 'handlers.prompts.request' }),
    );
    const ask = () => undefined;
    // @ts-expect-error a notice is listened for by `on`
    expect(() => policy.handle({ 'prompts.request': ask, 'round.planned': ask })).toThrow(
      expect.objectContaining({ path: 'handlers.round.planned', expected: expect.stringContaining('prompts.request') }),
    );
    // Nothing was added by what was refused.
    policy.send({ type: 'round.requested', at: 0, roundId: 's', weightVersion: 0 });
    expect(counts).toHaveLength(2);
    // A second one would carry out every command twice.
    expect(() => policy.handle({ 'prompts.request': ask })).toThrow(
      expect.objectContaining({ code: 'invalid_input', path: 'handlers', got: '"a second one"' }),
    );
    expect(() => policy.handle(undefined as never)).toThrow(expect.objectContaining({ path: 'handlers' }));
  });

  test('a failure that nobody listens for is written to the console', () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const policy = create(longPromptQueue, { promptsPerRound: 1 });
    policy.handle({
      'prompts.request': () => {
        throw new Error('no source');
      },
    });
    policy.send({ type: 'round.requested', at: 0, roundId: 'r', weightVersion: 0 });
    expect(error.mock.calls).toEqual([[expect.stringContaining('prompts.request'), new Error('no source')]]);
    error.mockRestore();
  });

  test('a promise of a listener that is rejected is told to listener.error', async () => {
    const policy = create(longPromptQueue, { promptsPerRound: 1 });
    const failures: ListenerFailure[] = [];
    policy.on('listener.error', (failure) => failures.push(failure));
    policy.handle({ 'prompts.request': async () => Promise.reject(new Error('later')) });
    policy.send({ type: 'round.requested', at: 0, roundId: 'r', weightVersion: 0 });
    await vi.waitFor(() => expect(failures).toHaveLength(1));
    expect(failures[0]).toMatchObject({ decision: { type: 'prompts.request' }, error: new Error('later') });
  });

  test('every observer hears every event, until it is ended', () => {
    const policy = create(longPromptQueue, { promptsPerRound: 1 });
    const heard: string[] = [];
    const ends = ['one', 'other'].map((name) => policy.observe(() => heard.push(name)));
    policy.send({ type: 'source.reopened', at: 0 });
    ends[0]!();
    policy.send({ type: 'source.reopened', at: 1 });
    expect(heard).toEqual(['one', 'other', 'other']);
  });

  test('takes tells, for the compiler too, which decisions of one policy another takes', () => {
    const policy = create(speculativeAdmission, { promptsPerRound: 1, responsesPerPrompt: 1, promptSpeculation: 1 });
    const groups = create(groupAssembly, {});
    const taken = [
      ...policy.send(opening),
      ...policy.send({ type: 'response.completed', at: 1, requestId: 'a/0#0', tokens: 3 }),
    ].filter((decision) => {
      if (groups.takes(decision)) groups.send(decision);
      return groups.takes(decision);
    });
    expect(taken.map(({ type }) => type)).toContain('prompt.counted');
    expect(groups.takes('prompt.counted')).toBe(true);
  });

  test('what is no definition, or of the other kind, is refused with what takes it', () => {
    const refused = (call: () => unknown) => expect(call).toThrow(expect.objectContaining({ path: 'definition' }));
    refused(() => create('tail-batching' as never, {} as never));
    refused(() => create(microBatches as never, {} as never));
    refused(() => runPlanner(longPromptQueue as never, {} as never));
    const policy = create(longPromptQueue, { promptsPerRound: 1 });
    expect(() => create(longPromptQueue, policy.snapshot() as never)).toThrow('`{ snapshot }` around a snapshot');
    expect(() => create(longPromptQueue, { snapshot: JSON.stringify(policy.snapshot()) })).toThrow('JSON.parse');
    expect(() => policy.on('round.planned', undefined as never)).toThrow(expect.objectContaining({ path: 'listener' }));
  });

  test('a listener for what is never decided is refused', () => {
    const policy = create(longPromptQueue, { promptsPerRound: 1 });
    // @ts-expect-error there is no such decision
    expect(() => policy.on('round.plannd', () => undefined)).toThrow(
      expect.objectContaining({
        code: 'invalid_input',
        expected: expect.stringContaining('did you mean "round.planned"'),
      }),
    );
  });

  test('an event that the policy does not take does not compile', () => {
    const policy = create(longPromptQueue, { promptsPerRound: 1 });
    // @ts-expect-error the queue takes no reports of responses
    expect(() => policy.send({ type: 'response.completed', at: 0, requestId: 'a', tokens: 1 })).toThrow(
      expect.objectContaining({ code: 'invalid_event', path: 'type' }),
    );
  });

  test('a time that looks like milliseconds is warned of once', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const policy = create(longPromptQueue, { promptsPerRound: 1 });
    for (const [at, roundId] of [
      [1.8e9, 'a'],
      [1.8e12, 'b'],
      [1.8e12 + 1, 'c'],
    ] as const) {
      policy.send({ type: 'round.requested', at, roundId, weightVersion: 0 });
    }
    expect(warn.mock.calls).toEqual([[expect.stringContaining('looks like milliseconds')]]);
    warn.mockRestore();
  });

  test('an earlier time is read as the latest', () => {
    const policy = admission();
    policy.send({ ...opening, at: 50 });
    const [accepted] = policy.send({ type: 'response.completed', at: 3, requestId: 'a/0#0', tokens: 1 });
    expect([accepted!.at, policy.at]).toEqual([50, 50]);
  });
});

describe('event logs', () => {
  test('record what listeners send as well, and replay to the byte', () => {
    const policy = admission();
    const lines: string[] = [];
    const stop = recordEvents(policy, (line) => lines.push(line));
    policy.once(
      'request.launch',
      ({ requestId }) => void policy.send({ type: 'response.completed', at: 1, requestId, tokens: 3 }),
    );
    policy.send(opening);
    stop();
    expect(lines).toHaveLength(3);
    const replay = replayEvents(lines, registry.restore);
    expect([replay.events, replay.difference]).toEqual([2, undefined]);
    const changed = lines.map((line) => line.replace('"held":1', '"held":2'));
    expect(replayEvents(changed, registry.restore).difference?.line).toBe(3);
  });

  test('a broken line is named by its number', () => {
    const lines: string[] = [];
    recordEvents(admission(), (line) => lines.push(line));
    expect(() => replayEvents([...lines, 'oops'], registry.restore)).toThrow(
      expect.objectContaining({ code: 'invalid_input', path: 'line 2' }),
    );
    expect(() => replayEvents([], registry.restore)).toThrow(expect.objectContaining({ path: 'line 1' }));
  });
});

describe('registry and snapshots', () => {
  test('the root entry has every definition under its id in camel case', () => {
    for (const definition of registry.definitions) {
      const name = definition.id.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
      const exported = new Map<string, unknown>(Object.entries(root).map(([key, one]) => [key.toLowerCase(), one]));
      expect(exported.get(name.toLowerCase()), `src/index.ts exports ${definition.id}`).toBe(definition);
    }
  });

  test('create goes on from a snapshot, which stands alone', () => {
    const policy = admission();
    const decisions = policy.send(opening);
    const again = create(speculativeAdmission, { snapshot: JSON.parse(JSON.stringify(policy.snapshot())) });
    expect([decisions.length, again.seq]).toEqual([2, 1]);
    expect(again.snapshot()).toEqual(policy.snapshot());
    expect(() => create(speculativeAdmission, { snapshot: policy.snapshot(), promptsPerRound: 1 } as never)).toThrow(
      expect.objectContaining({ code: 'invalid_config', path: 'promptsPerRound' }),
    );
    expect(() => create(longPromptQueue, { snapshot: policy.snapshot() })).toThrow(
      expect.objectContaining({ code: 'snapshot_mismatch', path: 'snapshot.policy' }),
    );
    expect(() => create(longPromptQueue, { snapshot: undefined })).toThrow(
      expect.objectContaining({ code: 'snapshot_mismatch', path: 'snapshot' }),
    );
    // Beside a configuration it would be a new policy, which knows nothing of what runs.
    expect(() => create(longPromptQueue, { promptsPerRound: 1 }, { snapshot: policy.snapshot() } as never)).toThrow(
      expect.objectContaining({ code: 'invalid_input', path: 'options.snapshot' }),
    );
  });

  test('refuses what it does not know', () => {
    expect(() => registry.create('nothing' as never, {} as never)).toThrow(
      expect.objectContaining({ code: 'unknown_id', path: 'policy' }),
    );
    expect(() => createRegistry([speculativeAdmission, speculativeAdmission])).toThrow(
      expect.objectContaining({ code: 'duplicate_id' }),
    );
    expect(() => createRegistry([{} as never])).toThrow(expect.objectContaining({ code: 'invalid_config' }));
    expect(() => registry.plan('tail-batching' as never, {} as never)).toThrow(
      expect.objectContaining({ code: 'unknown_id', path: 'planner', got: '"tail-batching, a recipe"' }),
    );
    const snapshot = admission().snapshot();
    for (const wrong of [
      { ...snapshot, version: 9 },
      { ...snapshot, state: {} },
      { ...snapshot, config: { promptsPerRound: 0 } },
      7,
    ]) {
      expect(() => registry.restore(wrong)).toThrow(expect.objectContaining({ code: 'snapshot_mismatch' }));
    }
  });

  test('transition keeps no state of its own', () => {
    const first = registry.transition(admission().snapshot(), opening);
    expect(first.decisions.map((one) => one.type)).toEqual(['request.launch', 'request.launch']);
    const again = registry.transition(JSON.parse(JSON.stringify(first.snapshot)), {
      type: 'response.completed',
      at: 1,
      requestId: 'a/0#0',
      tokens: 1,
    });
    expect(again.snapshot.seq).toBe(2);
  });

  test('an error says what, where, and what came', () => {
    const error = new PolicyError('invalid_config', { expected: 'a number >= 1', got: 'x'.repeat(500), path: 'eta' });
    expect(error.message).toMatch(/^eta: expected a number >= 1, got "x+…$/);
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ code: 'invalid_config', path: 'eta' });
  });
});

describe('heaps', () => {
  test('give back what was put in, in order, whatever is changed and removed between', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(20), fc.constantFrom('put', 'take', 'change', 'remove'))), (steps) => {
        type Item = { key: number; seq: number; heapIndex: number };
        const compare = (a: Item, b: Item) => a.key - b.key || a.seq - b.seq;
        const [indexed, plain] = [new IndexedHeap<Item>(compare), new Heap<number>((a, b) => a - b)];
        let model: Item[] = [];
        const keys: number[] = [];
        steps.forEach(([key, action], seq) => {
          const item = model[key % Math.max(1, model.length)];
          if (action === 'put') {
            const added = { key, seq, heapIndex: -1 };
            model.push(added);
            indexed.update(added);
            plain.push(key * 1000 + seq);
            keys.push(key * 1000 + seq);
          } else if (item === undefined) expect(indexed.peek()).toBeUndefined();
          else if (action === 'change') {
            item.key = key;
            indexed.update(item);
          } else {
            const out = action === 'take' ? indexed.peek()! : item;
            if (action === 'take') expect(out).toBe([...model].sort(compare)[0]);
            indexed.remove(out);
            model = model.filter((one) => one !== out);
          }
        });
        expect(indexed.size).toBe(model.length);
        const popped: number[] = [];
        for (let next = plain.pop(); next !== undefined; next = plain.pop()) popped.push(next);
        expect(popped).toEqual(keys.sort((a, b) => a - b));
      }),
    );
  });
});
