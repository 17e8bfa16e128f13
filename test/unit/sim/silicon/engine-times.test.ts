/** What any time model of engines must hold, whatever its constants: models and GPUs are drawn at random. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { secondsOfDecodeStep, weightSeconds } from '../../../../src/sim/models/cost-model.ts';
import { gpus } from '../../../../src/sim/silicon/gpus.ts';
import type { Precision } from '../../../../src/sim/silicon/models/model-shape.ts';
import {
  type EngineCosts,
  engineCosts,
  type ServedModel,
  type ServedShape,
} from '../../../../src/sim/silicon/served-model.ts';
import { servingTimes } from '../../../../src/sim/silicon/serving.ts';

const dense = fc
  .record({
    layers: fc.integer({ min: 8, max: 96 }),
    heads: fc.constantFrom(8, 16, 32, 64),
    kvShare: fc.constantFrom(1, 2, 4, 8),
    headDimension: fc.constantFrom(64, 128),
    denseParameters: fc.double({ min: 5e8, max: 8e9, noNaN: true }),
  })
  .map(
    ({ layers, heads, kvShare, headDimension, denseParameters }): ServedShape => ({
      layers,
      attentionLayers: layers,
      linearLayers: 0,
      moeLayers: 0,
      slidingWindow: 0,
      hiddenSize: heads * headDimension,
      heads,
      kvHeads: heads / kvShare,
      headDimension,
      mla: undefined,
      experts: 0,
      expertsPerToken: 0,
      denseParameters,
      expertParameters: 0,
      embeddingParameters: 0,
      kvValuesPerToken: (2 * layers * heads * headDimension) / kvShare,
      slidingKvValuesPerToken: 0,
      linearStateValues: 0,
      nativePrecision: 'bf16',
    }),
  );
const mixture = fc
  .record({
    shape: dense,
    experts: fc.integer({ min: 2, max: 256 }),
    share: fc.double({ min: 0.01, max: 1, noNaN: true }),
    expertParameters: fc.double({ min: 1e9, max: 2e10, noNaN: true }),
  })
  .map(
    ({ shape, experts, share, expertParameters }): ServedShape => ({
      ...shape,
      moeLayers: shape.layers,
      experts,
      expertsPerToken: Math.max(1, Math.round(share * experts)),
      expertParameters,
    }),
  );
/** All of which hold the largest of these models. */
const large = gpus.filter(({ memoryGb }) => memoryGb >= 80);
const served = fc
  .record({
    model: fc.oneof(dense, mixture),
    gpu: fc.constantFrom(...large),
    precision: fc.constantFrom<Precision>('bf16', 'fp8', 'int8', 'fp4', 'int4'),
    gpus: fc.constantFrom(1, 2, 4, 8),
  })
  .filter(({ model, gpus: count }) => model.heads % count === 0);
const batch = fc.integer({ min: 1, max: 512 });
const context = fc.integer({ min: 0, max: 1_000_000 });

const stepOf = (costs: EngineCosts, running: number, tokens: number): number =>
  secondsOfDecodeStep(costs, running, tokens);
/** Sums of the same terms in another order. */
const atMost = (a: number, b: number): void => expect(a).toBeLessThanOrEqual(b * (1 + 1e-9));

test('a step takes longer with more sequences, and with more context', () => {
  fc.assert(
    fc.property(served, batch, batch, context, context, (one, a, b, few, many) => {
      const costs = engineCosts(one);
      const [less, more] = [Math.min(a, b), Math.max(a, b)];
      atMost(stepOf(costs, less, few), stepOf(costs, more, few));
      expect(stepOf(costs, less, few + many + 1)).toBeGreaterThan(stepOf(costs, less, few));
    }),
  );
});

test('a step never takes longer with more bandwidth of memory, links or units', () => {
  const faster = fc.double({ min: 1, max: 4, noNaN: true });
  fc.assert(
    fc.property(served, batch, context, faster, faster, faster, (one, running, tokens, memory, links, units) => {
      const { gpu } = one;
      const better: ServedModel = {
        ...one,
        gpu: {
          ...gpu,
          bandwidthGbps: gpu.bandwidthGbps * memory,
          linkGbps: gpu.linkGbps * links,
          tflops: gpu.tflops * units,
        },
      };
      atMost(stepOf(engineCosts(better), running, tokens), stepOf(engineCosts(one), running, tokens));
    }),
  );
});

test('fewer bits are never slower where memory binds', () => {
  fc.assert(
    fc.property(served, context, (one, tokens) => {
      const at = (precision: Precision) => engineCosts({ ...one, precision });
      const binds = (costs: EngineCosts) => weightSeconds(costs, 1) >= costs.computeSecondsPerSequence;
      const [sixteen, eight, four] = [at('bf16'), at('fp8'), at('fp4')];
      expect(binds(sixteen)).toBe(true);
      atMost(stepOf(eight, 1, tokens), stepOf(sixteen, 1, tokens));
      atMost(stepOf(four, 1, tokens), stepOf(sixteen, 1, tokens));
      atMost(four.expertSeconds, eight.expertSeconds);
      // The dense part of a mixture in four bits stays in bf16.
      if (one.model.experts === 0) atMost(stepOf(four, 1, tokens), stepOf(eight, 1, tokens));
      const narrow = engineCosts({ ...one, kvPrecision: 'fp8' });
      atMost(narrow.secondsPerContextToken, engineCosts(one).secondsPerContextToken);
    }),
  );
});

test('more GPUs never make the context of a sequence dearer, nor the weights', () => {
  fc.assert(
    fc.property(served, (one) => {
      const degrees = [1, 2, 4, 8].filter((tp) => one.model.heads % tp === 0);
      const costs = degrees.map((tp) => engineCosts({ ...one, gpus: tp }));
      for (const [index, next] of costs.slice(1).entries()) {
        atMost(next.secondsPerContextToken, costs[index]!.secondsPerContextToken);
        atMost(next.memoryBoundSeconds, costs[index]!.memoryBoundSeconds);
        expect(next.kvCapacityTokens).toBeGreaterThanOrEqual(costs[index]!.kvCapacityTokens);
      }
    }),
  );
});

test('the room for the cache falls as weights grow', () => {
  fc.assert(
    fc.property(served, fc.double({ min: 1e8, max: 2e9, noNaN: true }), (one, more) => {
      const heavier = { ...one.model, denseParameters: one.model.denseParameters + more };
      const room = (model: ServedShape) => engineCosts({ ...one, model }).kvCapacityTokens;
      expect(room(heavier)).toBeLessThan(room(one.model));
    }),
  );
});

test('a step reads more experts with more sequences, never more than all, and one token its own share', () => {
  fc.assert(
    fc.property(mixture, batch, (model, running) => {
      const costs = engineCosts({ model, gpu: large[0]!, precision: 'bf16', gpus: 1 });
      const read = (some: number) => weightSeconds(costs, some) - costs.memoryBoundSeconds;
      atMost(read(running), costs.expertSeconds);
      atMost(read(running), read(running + 1));
      expect(read(1) / costs.expertSeconds).toBeCloseTo(model.expertsPerToken / model.experts, 9);
    }),
  );
});

test('a mixture whose tokens visit all experts is the dense model of all its parameters', () => {
  fc.assert(
    fc.property(mixture, fc.constantFrom(...large), batch, context, (model, gpu, running, tokens) => {
      // Routing itself has a time: no layer is said to have it.
      const all = { ...model, expertsPerToken: model.experts, moeLayers: 0 };
      const parameters = model.denseParameters + model.expertParameters;
      const alike = { ...all, experts: 0, expertsPerToken: 0, denseParameters: parameters, expertParameters: 0 };
      const [ours, plain] = [all, alike].map((one) => engineCosts({ model: one, gpu, precision: 'bf16', gpus: 1 }));
      expect(stepOf(ours!, running, tokens) / stepOf(plain!, running, tokens)).toBeCloseTo(1, 9);
      expect(ours!.prefillSecondsPerToken / plain!.prefillSecondsPerToken).toBeCloseTo(1, 9);
      expect(Math.abs(ours!.kvCapacityTokens - plain!.kvCapacityTokens)).toBeLessThanOrEqual(1);
    }),
  );
});

test('under a load, no time falls with more clients or longer prompts, and no more run than have room', () => {
  const tokens = fc.integer({ min: 16, max: 8192 });
  fc.assert(
    fc.property(served, batch, batch, tokens, tokens, tokens, (one, a, b, short, longer, responseTokens) => {
      const costs = engineCosts(one);
      const at = (concurrency: number, promptTokens: number) =>
        servingTimes(costs, 'vllm', { concurrency, attentionRanks: 1, promptTokens, responseTokens });
      const [less, more] = [at(Math.min(a, b), short), at(Math.max(a, b), short)];
      atMost(less.tpotSeconds, more.tpotSeconds);
      atMost(less.ttftSeconds, more.ttftSeconds);
      const roomy = { ...costs, kvCapacityTokens: 1e9 };
      const load = { concurrency: a, attentionRanks: 1, responseTokens };
      const [near, far] = [short, short + longer].map((promptTokens) =>
        servingTimes(roomy, 'vllm', { ...load, promptTokens }),
      );
      atMost(near!.tpotSeconds, far!.tpotSeconds);
      atMost(near!.ttftSeconds, far!.ttftSeconds);
      expect(less.running).toBeLessThanOrEqual(Math.min(a, b));
    }),
  );
});
