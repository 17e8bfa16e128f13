import { describe, expect, test } from 'vitest';
import { type Stretch, stepsUntil, stretchSeconds } from '../../../../src/sim/engine/step-time.ts';
import {
  baseSeconds,
  costModelSchema,
  deriveCostModel,
  type EngineShape,
} from '../../../../src/sim/models/cost-model.ts';
import { siliconConstants } from '../../../../src/sim/silicon/constants.ts';

const shape: EngineShape = {
  billionParameters: 8,
  layers: 32,
  kvHeads: 8,
  headDimension: 128,
  tensorParallel: 1,
  gpu: { memoryGb: 80, bandwidthGbps: 3350, tflops: 989 },
  hostSeconds: 3e-3,
};
const error = (code: string, path: string) => expect.objectContaining({ name: 'PolicyError', code, path });

describe('the cost model', () => {
  test('is derived from the shape of model and GPU', () => {
    const cost = deriveCostModel(shape);
    const { weightBandwidth, kvBandwidth, layerSeconds } = siliconConstants;
    // 16 GB of weights, 128 KiB of KV a token; 80 % of 80 GiB for both, without 2 GB of workspace.
    expect(cost.memoryBoundSeconds).toBeCloseTo(16 / (3350 * weightBandwidth), 12);
    expect(cost.secondsPerContextToken).toBeCloseTo(131_072 / (3350e9 * kvBandwidth), 18);
    expect(cost.kvCapacityTokens).toBe(Math.floor((0.8 * 80 * 2 ** 30 - 2e9 - 16e9) / 131_072));
    expect(cost.overheadSeconds).toBeCloseTo(3e-3 + 32 * layerSeconds, 12);
    const two = deriveCostModel({ ...shape, tensorParallel: 2 });
    expect(two.gpus).toBe(2);
    expect(two.memoryBoundSeconds).toBeCloseTo(cost.memoryBoundSeconds / 2, 12);
    expect(two.overheadSeconds).toBeGreaterThan(cost.overheadSeconds);
    expect(two.kvCapacityTokens).toBeGreaterThan(2 * cost.kvCapacityTokens);
  });

  test('the base of a step is bound by memory, then by compute', () => {
    const cost = deriveCostModel(shape);
    const rest = (running: number) => cost.overheadSeconds + running * cost.secondsPerSequence;
    expect(baseSeconds(cost, 1)).toBe(cost.memoryBoundSeconds + rest(1));
    const many = 10_000;
    expect(baseSeconds(cost, many)).toBe(many * cost.computeSecondsPerSequence + rest(many));
  });

  test('says what does not fit', () => {
    expect(() => deriveCostModel({ ...shape, billionParameters: 70 })).toThrow(error('infeasible', 'tensorParallel'));
    expect(() => deriveCostModel({ ...shape, hostSeconds: Number.NaN })).toThrow(
      error('invalid_input', 'overheadSeconds'),
    );
    expect(() => deriveCostModel({ ...shape, tensorParallel: 1.5 })).toThrow(error('invalid_input', 'gpus'));
    const parsed = costModelSchema.safeParse({ ...deriveCostModel(shape), watermark: 1 });
    expect(parsed.success).toBe(false);
  });
});

describe('decode steps in closed form', () => {
  const stretches: Stretch[] = [
    { firstSeconds: 0.01, growthSeconds: 0 },
    { firstSeconds: 0.01, growthSeconds: 1e-18 },
    { firstSeconds: 0.01, growthSeconds: 3e-6 },
    { firstSeconds: 1e-3, growthSeconds: 1e-3 },
  ];

  test('equal the sum of the steps', () => {
    for (const stretch of stretches) {
      let seconds = 0;
      for (let step = 0; step < 1000; step += 1) seconds += stretch.firstSeconds + step * stretch.growthSeconds;
      expect(stretchSeconds(stretch, 1000) / seconds).toBeCloseTo(1, 9);
    }
  });

  test('a moment falls in the step that ends at it or next', () => {
    for (const stretch of stretches) {
      for (const steps of [1, 2, 3, 1000, 31_999, 1_000_000]) {
        const end = stretchSeconds(stretch, steps);
        expect(stepsUntil(stretch, end)).toBe(steps);
        expect(stepsUntil(stretch, end * (1 - 1e-12))).toBe(steps);
        expect(stepsUntil(stretch, end * (1 + 1e-12))).toBe(steps + 1);
      }
      expect(stepsUntil(stretch, 0)).toBe(0);
    }
  });
});
