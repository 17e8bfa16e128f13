import { describe, expect, test } from 'vitest';
import { DecodeEngine } from '../../../../src/sim/engine/decode-engine.ts';
import { type CostModel, costModelSchema } from '../../../../src/sim/models/cost-model.ts';
import { freeCost } from '../../../support/simulator/free-cost.ts';

/** A step of 1 s and a prefill of 1 s for 10 tokens, whatever the batch. */
const plain = costModelSchema.parse({
  memoryBoundSeconds: 1,
  ...freeCost,
  prefillSecondsPerToken: 0.125,
  kvCapacityTokens: 100,
  watermark: 0,
});
const engineWith = (cost: Partial<CostModel> = {}) => new DecodeEngine('e0', { ...plain, ...cost }, { timeline: true });
const ask = (requestId: string, promptTokens: number, responseTokens: number, generatedTokens?: number) =>
  generatedTokens === undefined
    ? { requestId, promptTokens, responseTokens }
    : { requestId, promptTokens, responseTokens, generatedTokens };
const error = (code: string, path: string) => expect.objectContaining({ name: 'PolicyError', code, path });

describe('the decode engine', () => {
  test('prefills all that it admits in one go, then decodes', () => {
    const engine = engineWith();
    engine.add(ask('a', 8, 3), 0);
    engine.add(ask('b', 16, 2), 0);
    expect(engine.nextEventAt()).toBe(3);
    expect(engine.advanceTo(3)).toEqual([]);
    expect(engine.nextEventAt()).toBe(5);
    expect(engine.advanceTo(100)).toEqual([
      { requestId: 'b', kind: 'completed', at: 5, tokens: 2 },
      { requestId: 'a', kind: 'completed', at: 6, tokens: 3 },
    ]);
    expect(engine).toMatchObject({ busySeconds: 6, prefillSeconds: 3, decodeSeconds: 3, decodeSteps: 3 });
    expect(engine).toMatchObject({ generatedTokens: 5, preemptions: 0, recomputedTokens: 0, size: 0 });
    expect(engine.timeline).toEqual([
      { startSeconds: 0, endSeconds: 5, activity: 'rollout', running: 2 },
      { startSeconds: 5, endSeconds: 6, activity: 'rollout', running: 1 },
    ]);
  });

  test('a step takes α(b) + γ · context, which grows by a token a sequence', () => {
    const engine = engineWith({
      memoryBoundSeconds: 0.5,
      computeSecondsPerSequence: 1,
      overheadSeconds: 0.25,
      secondsPerSequence: 0.125,
      secondsPerContextToken: 0.5,
      prefillSecondsPerToken: 0,
    });
    engine.add(ask('a', 4, 2), 0);
    engine.add(ask('b', 6, 2), 0);
    // α(2) = max(0.5, 2) + 0.25 + 0.25; the context is 10 tokens, then 12.
    expect(engine.nextEventAt()).toBe(2 * 2.5 + 0.5 * (10 + 12));
  });

  test('what comes inside a step takes effect at its end, what comes at a boundary at once', () => {
    const inside = engineWith();
    inside.add(ask('a', 8, 3), 0);
    inside.add(ask('b', 8, 1), 2.5);
    expect(inside.nextEventAt()).toBe(3);
    expect(inside.advanceTo(100).map(({ at }) => at)).toEqual([5, 5]);
    const exactly = engineWith();
    exactly.add(ask('a', 8, 3), 0);
    exactly.add(ask('b', 8, 1), 2);
    expect(exactly.advanceTo(100).map(({ at }) => at)).toEqual([4, 5]);
  });

  test('an abort reports what was generated at the end of the step, or that it was complete by then', () => {
    const engine = engineWith();
    engine.add(ask('a', 8, 9), 0);
    engine.add(ask('b', 8, 2), 0);
    engine.add(ask('c', 90, 2), 0);
    engine.abort('nobody', 1);
    engine.abort('a', 3.5);
    engine.abort('b', 3.5);
    engine.abort('c', 3.5);
    expect(engine.advanceTo(100)).toEqual([
      { requestId: 'b', kind: 'completed', at: 4, tokens: 2 },
      { requestId: 'a', kind: 'aborted', at: 4, tokens: 2 },
      { requestId: 'c', kind: 'aborted', at: 4, tokens: 0 },
    ]);
    expect(engine.nextEventAt()).toBe(Number.POSITIVE_INFINITY);
  });

  test('the newest is preempted, keeps its tokens, and is computed again before those that wait', () => {
    const engine = engineWith({ kvCapacityTokens: 24 });
    engine.add(ask('a', 8, 6), 0);
    engine.add(ask('b', 8, 6), 0);
    engine.add(ask('c', 8, 1), 0);
    // 16 tokens of context and 2 more a step: the fifth step does not fit, b leaves with 4 tokens.
    const ended = engine.advanceTo(100).map(({ requestId, at }) => [requestId, at]);
    expect(engine).toMatchObject({ preemptions: 1, recomputedTokens: 12, generatedTokens: 13 });
    // a is done at 8; b and c are prefilled together, 12 + 8 tokens.
    expect(ended).toEqual([
      ['a', 8],
      ['c', 11.5],
      ['b', 12.5],
    ]);
  });

  test('admission leaves the watermark free, but not on an empty engine', () => {
    const engine = engineWith({ kvCapacityTokens: 24, watermark: 0.5 });
    engine.add(ask('a', 16, 1), 0);
    engine.add(ask('b', 4, 1), 0);
    expect(engine.advanceTo(100).map(({ requestId, at }) => [requestId, at])).toEqual([
      ['a', 3],
      ['b', 4.5],
    ]);
  });

  test('a resumed request pays for its prompt and its tokens', () => {
    const engine = engineWith();
    engine.add(ask('a', 8, 10, 8), 0);
    expect(engine.advanceTo(100)).toEqual([{ requestId: 'a', kind: 'completed', at: 4, tokens: 10 }]);
    expect(engine.generatedTokens).toBe(2);
  });

  test('tells what it has in the middle of a stretch, with the tokens generated so far', () => {
    const engine = engineWith({ maxRunningSequences: 2 });
    for (const id of ['one', 'two', 'waiting']) engine.add(ask(id, 8, 9), 0);
    // A prefill of 2 s, and two steps of 1 s; the third is under way.
    expect(engine.progress(4.5)).toEqual([
      { requestId: 'one', tokens: 2 },
      { requestId: 'two', tokens: 2 },
      { requestId: 'waiting', tokens: 0 },
    ]);
  });

  test('a lost engine gives back all it had; the step under way is lost, its seconds are not', () => {
    const engine = engineWith({ maxRunningSequences: 2 });
    for (const id of ['done', 'running', 'waiting']) engine.add(ask(id, 8, id === 'done' ? 1 : 9), 0);
    engine.abort('running', 3.5);
    engine.add(ask('new', 8, 9, 5), 3.5);
    expect(engine.lose(3.75)).toEqual([
      { requestId: 'running', tokens: 1 },
      { requestId: 'waiting', tokens: 0 },
      { requestId: 'new', tokens: 5 },
    ]);
    expect(engine.advanceTo(100).map(({ requestId }) => requestId)).toEqual(['done']);
    expect(engine).toMatchObject({ size: 0, busySeconds: 3.75, prefillSeconds: 2.75, decodeSeconds: 1 });
    expect(engine.nextEventAt()).toBe(Number.POSITIVE_INFINITY);
    engine.add(ask('running', 8, 1), 10);
    expect(engine.advanceTo(100)).toEqual([{ requestId: 'running', kind: 'completed', at: 12, tokens: 1 }]);
  });

  test('asking changes nothing, and a host may skip it', () => {
    const run = (asking: boolean) => {
      const engine = engineWith();
      const look = () => (asking ? engine.nextEventAt() : 0);
      for (const id of ['a', 'b', 'c']) {
        engine.add(ask(id, 8, 4), 0);
        look();
      }
      engine.abort('b', 0);
      look();
      engine.add(ask('d', 8, 2), 30);
      look();
      return engine.advanceTo(100);
    };
    expect(run(true)).toEqual(run(false));
    expect(run(true).map(({ requestId, at }) => [requestId, at])).toEqual([
      ['b', 0],
      ['a', 6],
      ['c', 6],
      ['d', 33],
    ]);
  });

  test('bad requests and moments are refused and change nothing', () => {
    const engine = engineWith();
    engine.add(ask('a', 50, 50), 0);
    expect(() => engine.add(ask('b', 50, 51), 0)).toThrow(error('infeasible', 'b'));
    expect(() => engine.add(ask('a', 1, 1), 0)).toThrow(error('duplicate_id', 'requestId'));
    expect(() => engine.add(ask('b', -1, 1), 0)).toThrow(error('invalid_input', 'b.promptTokens'));
    expect(() => engine.add(ask('b', 1, 1.5), 0)).toThrow(error('invalid_input', 'b.responseTokens'));
    expect(() => engine.add(ask('b', 1, Number.NaN), 0)).toThrow(error('invalid_input', 'b.responseTokens'));
    expect(() => engine.add(ask('b', 1, 5, 5), 0)).toThrow(error('invalid_input', 'b.generatedTokens'));
    expect(() => engine.add(ask('b', 1, 1), Number.POSITIVE_INFINITY)).toThrow(error('invalid_input', 'at'));
    expect(() => engine.abort('a', Number.NaN)).toThrow(error('invalid_input', 'at'));
    expect(() => engine.lose(Number.NaN)).toThrow(error('invalid_input', 'at'));
    expect(engine.size).toBe(1);
    expect(engine.nextEventAt()).toBe(6.25);
  });
});
