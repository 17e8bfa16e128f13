/** An engine that shares its GPUs: another pace, and another size of its KV cache, from one step to the next. */
import { describe, expect, test } from 'vitest';
import { DecodeEngine } from '../../../../src/sim/engine/decode-engine.ts';
import { type CostModel, costModelSchema } from '../../../../src/sim/models/cost-model.ts';
import { freeCost } from '../../../support/simulator/free-cost.ts';

const plain = costModelSchema.parse({
  memoryBoundSeconds: 1,
  ...freeCost,
  kvCapacityTokens: 100,
  watermark: 0,
});
const engineWith = (cost: Partial<CostModel> = {}) => new DecodeEngine('e0', { ...plain, ...cost });
const ask = (requestId: string, promptTokens: number, responseTokens: number) => ({
  requestId,
  promptTokens,
  responseTokens,
});
const ends = (engine: DecodeEngine): string[] =>
  engine.advanceTo(1e9).map(({ requestId, at, tokens }) => `${requestId} ${at.toFixed(3)} ${tokens}`);

describe('pace', () => {
  test('from the start it is the same as a cost so many times as high', () => {
    const cost = { prefillSecondsPerToken: 0.125, secondsPerContextToken: 0.25, overheadSeconds: 0.5 };
    const slow = engineWith(cost);
    slow.setPace(3, 0);
    const dear = engineWith({
      memoryBoundSeconds: 3,
      prefillSecondsPerToken: 0.375,
      secondsPerContextToken: 0.75,
      overheadSeconds: 1.5,
    });
    for (const engine of [slow, dear]) for (const id of ['a', 'b']) engine.add(ask(id, 8, id === 'a' ? 3 : 9), 0);
    expect(ends(slow)).toEqual(ends(dear));
  });

  test('changes at the end of the running step, and back', () => {
    const engine = engineWith();
    engine.add(ask('a', 1, 10), 0);
    engine.setPace(2, 2.5);
    expect(engine.nextEventAt()).toBe(3);
    expect(engine.advanceTo(3)).toEqual([]);
    expect(engine.nextEventAt()).toBe(17);
    // Steps end at 3, 5, 7; the one in which it changes back still takes 2 s.
    engine.setPace(1, 5.5);
    expect(ends(engine)).toEqual(['a 12.000 10']);
  });

  test('at a boundary it holds for the next step; an idle engine keeps it', () => {
    const engine = engineWith();
    engine.add(ask('a', 1, 4), 0);
    engine.advanceTo(1);
    engine.setPace(2, 2);
    expect(ends(engine)).toEqual(['a 6.000 4']);
    engine.add(ask('b', 1, 2), 10);
    expect(engine.advanceTo(1e9)).toMatchObject([{ requestId: 'b', tokens: 2 }]);
    expect(engine.decodeSteps).toBe(6);
  });
});

describe('the size of the KV cache', () => {
  test('what is over is preempted at the end of the running step, and comes back when there is room', () => {
    const engine = engineWith();
    engine.add(ask('a', 10, 20), 0);
    engine.add(ask('b', 10, 20), 0);
    engine.setKvCapacity(25, 4.5);
    engine.advanceTo(5);
    engine.nextEventAt();
    // Five tokens each at 5 s, of the newer one they are computed again once the older one is done.
    expect(engine.preemptions).toBe(0);
    expect(ends(engine)).toEqual(['a 20.000 20', 'b 35.000 20']);
    expect(engine.preemptions).toBe(1);
  });

  test('the last one is never preempted', () => {
    const engine = engineWith();
    engine.add(ask('a', 10, 20), 0);
    engine.setKvCapacity(5, 3);
    expect(ends(engine)).toEqual(['a 20.000 20']);
    engine.add(ask('b', 10, 20), 1e9);
    expect(engine.advanceTo(2e9)).toMatchObject([{ requestId: 'b', tokens: 20 }]);
  });
});
