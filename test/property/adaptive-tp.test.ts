/** The invariants of adaptive-tp, by their numbers in its README. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { create } from '../../src/core/machine/start.ts';
import { isPolicyError } from '../../src/errors.ts';
import { adaptiveTp } from '../../src/index.ts';
import {
  type AdaptiveTpConfig,
  type AdaptiveTpDecision,
  type AdaptiveTpInput,
  selectTp,
} from '../../src/policies/adaptive-tp/index.ts';
import type { ProfileRow } from '../../src/schemas/index.ts';
import { likelyEvents, tapes } from '../../src/testing/index.ts';
import { runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import {
  configOf,
  costsOf,
  rollout,
  runAdaptive,
  type TpJob,
  type TpStep,
  workloadOf,
} from '../support/simulator/tp-rollout.ts';

type KindTpSet = Extract<AdaptiveTpDecision, { type: 'kind-tp.set' }>;

const numbers = fc.integer({ min: 0, max: 999_999 });
/** A number from 0 to 1 for an index: the same for the same seed. */
const uniform = (seed: number) => (index: number) => {
  let x = (seed ^ Math.imul(index + 1, 0x9e37_79b1)) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x85eb_ca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2_ae35);
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
};
const noiseOf = (seed: number, share: number) => (index: number) => 1 + share * (2 * uniform(seed)(index) - 1);

const gpu = { memoryGb: 80, bandwidthGbps: 3350, tflops: 989 };
const jobs: fc.Arbitrary<TpJob> = fc
  .record({
    shape: fc.constantFrom(
      { billionParameters: 7.6, layers: 28, kvHeads: 4, headDimension: 128, hostSeconds: 2.8e-3, gpu },
      { billionParameters: 14.8, layers: 48, kvHeads: 8, headDimension: 128, hostSeconds: 8.3e-3, gpu },
      { billionParameters: 32.8, layers: 64, kvHeads: 8, headDimension: 128, hostSeconds: 4.2e-3, gpu },
    ),
    communicationSeconds: fc.constantFrom(0, 1e-3, 4e-3, 12e-3),
  })
  .map((one) => ({ ...one, servers: 1, gpusPerServer: 8 }));

/** A step whose longest response may have `cap` tokens; the larger the power, the longer the tail. */
const stepOf = (responses: number, cap: number, power: number, seed: number): TpStep => ({
  promptTokens: 200,
  lengths: Array.from({ length: responses }, (_, at) => Math.max(1, Math.round(cap * uniform(seed)(at) ** power))),
});

/** Degrees that the policy may use for a job whose longest sequence has 33k tokens. */
function degreesFor(job: TpJob): number[] {
  return [...costsOf(job)]
    .filter(([tp, cost]) => job.shape.kvHeads % tp === 0 && cost.kvCapacityTokens > 33_500)
    .map(([tp]) => tp);
}

describe('adaptive-tp', () => {
  test.each([
    ['with what is expected', true],
    ['from the least degree', false],
  ])(
    'invariant 1: on lengths that grow it stays within 10 % of the best fixed TP, %s',
    (_title, isExpected) => {
      let worst = 0;
      fc.assert(
        fc.property(
          jobs,
          fc.integer({ min: 40, max: 480 }),
          fc.constantFrom(0, 1, 2, 4),
          numbers,
          (job, n, tail, seed) => {
            const steps = Array.from({ length: 13 }, (_, at) => stepOf(n, 8192 + 2048 * at, tail, seed + 97 * at));
            const degrees = degreesFor(job);
            const memory = new Map<string, ReturnType<typeof rollout>>();
            const run = (tp: number, step: TpStep) => {
              const key = `${tp}/${steps.indexOf(step)}`;
              if (!memory.has(key)) memory.set(key, rollout(job, tp, step));
              return memory.get(key)!;
            };
            const fixed = degrees.map((tp) => steps.reduce((sum, step) => sum + run(tp, step).seconds, 0));
            const config = configOf(job, {
              minTp: degrees[0]!,
              ...(isExpected ? { expectedWorkload: { short: workloadOf(steps[0]!) } } : undefined),
            });
            const adaptive = runAdaptive(config, steps, run, noiseOf(seed, 0.03));
            const ratio = adaptive.seconds / Math.min(...fixed);
            worst = Math.max(worst, ratio);
            expect(ratio).toBeLessThanOrEqual(1.1);
          },
        ),
        runs(40),
      );
      if (process.env.SHOW_FIGURES) console.log(`worst ratio to the best fixed TP: ${worst.toFixed(3)}`);
    },
    30_000,
  );

  /** Any profile, right or wrong, and any seconds and preemptions of each TP. */
  const tables = fc.record({
    gpus: fc.constantFrom(2, 4, 8, 16),
    minTp: fc.constantFrom(1, 2),
    startTp: fc.option(fc.constantFrom(1, 2, 4, 8, 16), { nil: undefined }),
    seconds: fc.array(fc.double({ min: 10, max: 40, noNaN: true }), { minLength: 5, maxLength: 5 }),
    preemptions: fc.array(fc.constantFrom(0, 0, 0, 3, 50, 400), { minLength: 5, maxLength: 5 }),
    profile: fc.option(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 5, maxLength: 5 }), { nil: undefined }),
    noise: numbers,
    hasExpected: fc.boolean(),
  });

  test('invariant 2: on a stationary load it changes at most log2(maxTp / minTp) + 1 times, and never after step 20', () => {
    fc.assert(
      fc.property(tables, ({ gpus, minTp, startTp, seconds, preemptions, profile, noise, hasExpected }) => {
        const gpuIds = Array.from({ length: gpus }, (_, at) => `g${at}`);
        const step: TpStep = { promptTokens: 10, lengths: [10, 20, 30, 40] };
        const rows = (profile ?? []).map(
          (at, index): ProfileRow => ({
            tp: 2 ** index,
            batchSize: 1,
            sequenceLength: 1,
            decodeStepSeconds: at / 10,
            prefillSeconds: 0,
            bytes: 1,
          }),
        );
        const config: AdaptiveTpInput = {
          servers: [{ serverId: 's', gpuIds }],
          kvHeads: 16,
          modelBytes: 1,
          gpuMemoryBytes: 100,
          minTp,
          profile: rows,
          startTp: startTp !== undefined && startTp >= minTp && startTp <= gpus ? { short: startTp } : {},
          expectedWorkload: hasExpected ? { short: { ...workloadOf(step), responses: 40 } } : {},
        };
        const of = (tp: number) => ({ seconds: seconds[Math.log2(tp)]!, preemptions: preemptions[Math.log2(tp)]! });
        const { changes } = runAdaptive(config, Array(60).fill(step), of, noiseOf(noise, 0.03));
        expect(changes.length).toBeLessThanOrEqual(Math.log2(gpus / minTp) + 1);
        for (const at of changes) expect(at).toBeLessThanOrEqual(20);
      }),
      runs(800),
    );
  });

  test('invariant 2, with preemptions that vary too: the number of changes is bounded', () => {
    fc.assert(
      fc.property(tables, numbers, ({ gpus, minTp, seconds, preemptions, noise }, seed) => {
        const config: AdaptiveTpInput = {
          servers: [{ serverId: 's', gpuIds: Array.from({ length: gpus }, (_, at) => `g${at}`) }],
          kvHeads: 16,
          modelBytes: 1,
          gpuMemoryBytes: 100,
          minTp,
        };
        let step = 0;
        const of = (tp: number) => {
          const at = Math.log2(tp);
          return { seconds: seconds[at]!, preemptions: Math.round(preemptions[at]! * uniform(seed)(step++)) };
        };
        const steps: TpStep[] = Array(80).fill({ promptTokens: 10, lengths: [10, 20, 30, 40] });
        const { changes } = runAdaptive(config, steps, of, noiseOf(noise, 0.03));
        expect(changes.length).toBeLessThanOrEqual(Math.log2(gpus / minTp) + 1);
      }),
      runs(300),
    );
  });

  /** What every `kind-tp.set` must keep to. */
  function expectWithinBounds(config: AdaptiveTpConfig, { tp, ep, replicas }: KindTpSet): void {
    expect(Number.isInteger(Math.log2(tp))).toBe(true);
    expect(config.kvHeads % tp).toBe(0);
    expect(tp).toBeGreaterThanOrEqual(config.minTp);
    expect(tp).toBeLessThanOrEqual(config.maxTp ?? Number.POSITIVE_INFINITY);
    expect(config.modelBytes / tp).toBeLessThanOrEqual(config.gpuMemoryBytes * config.memoryUtilization);
    if (config.experts === undefined) expect(ep).toBeUndefined();
    else expect([tp % ep!, config.experts % ep!]).toEqual([0, 0]);
    expect(replicas.map((one) => one.replica)).toEqual(replicas.map((_, at) => at));
    expect(replicas.every((one) => one.gpuIds.length === tp)).toBe(true);
    const byServer = config.servers.map(({ serverId }) =>
      replicas.filter((one) => one.serverId === serverId).flatMap((one) => one.gpuIds),
    );
    expect(byServer).toEqual(config.servers.map((one) => one.gpuIds));
  }

  test.each(exampleConfigs['adaptive-tp']!.map((config) => [JSON.stringify(config).slice(0, 200), config] as const))(
    'invariants 3 to 6 hold with %s',
    (_name, config) => {
      const settings = adaptiveTp.config.parse(config);
      fc.assert(
        fc.property(tapes(), (tape) => {
          const policy = create(adaptiveTp, config as never);
          const running = new Map<string, string>();
          const told = new Map<string, string>();
          const quiet = new Map<string, number>();
          for (const event of likelyEvents(adaptiveTp, config, tape, 120)) {
            let decisions: AdaptiveTpDecision[];
            try {
              decisions = policy.send(event as never);
            } catch (error) {
              if (!isPolicyError(error) || error.code === 'internal') throw error;
              continue;
            }
            const about = decisions.filter((one) => one.type !== 'profile.measure');
            if (event.type === 'step.finished') {
              expect(about.map((one) => one.roundId)).toEqual([(event as never as { roundId: string }).roundId]); // 6
            }
            for (const one of about) {
              if (one.type === 'round-tp.set') {
                // After a restart it is told again what the round was planned with.
                const isAgain = one.reason.code === 'host_restarted';
                expect(isAgain ? running.get(one.roundId) : told.get(one.kind)).toBe(`${one.tp}/${one.ep}`);
                running.set(one.roundId, `${one.tp}/${one.ep}`);
                continue;
              }
              if (one.type === 'kind-tp.kept') {
                if (one.reason.code === 'cooldown') quiet.set(one.kind, one.reason.stepsLeft);
                continue;
              }
              expectWithinBounds(settings, one); // 3
              const key = `${one.tp}/${one.ep}`;
              const { reason } = one;
              if ('fromTp' in reason) {
                expect(told.get(one.kind)).toBe(`${reason.fromTp}/${reason.fromEp}`); // 4
                expect(told.get(one.kind)).not.toBe(key);
                const isQuiet = !['undone', 'not_applied'].includes(reason.code);
                if (isQuiet) expect(quiet.get(one.kind) ?? 0).toBe(0); // 5
                quiet.set(one.kind, reason.code === 'not_applied' ? 0 : settings.cooldownSteps);
              }
              told.set(one.kind, key);
            }
          }
        }),
        runs(30),
      );
    },
  );

  test('invariant 7: selectTp takes the least of what it predicts, and predicts more for more', () => {
    const profile = fc.record({
      seed: numbers,
      gpus: fc.constantFrom(4, 8),
      memory: fc.integer({ min: 60, max: 400 }),
    });
    const workloads = fc.record({
      responses: fc.integer({ min: 1, max: 60 }),
      promptTokens: fc.integer({ min: 0, max: 10 }),
      responseTokens: fc.integer({ min: 1, max: 20 }),
      more: fc.integer({ min: 0, max: 40 }),
    });
    fc.assert(
      fc.property(profile, workloads, ({ seed, gpus, memory }, { more, ...workload }) => {
        const at = (index: number) => uniform(seed)(index);
        const rows = [1, 2, 4].flatMap((tp) =>
          [1, 8, 32].flatMap((batchSize) =>
            [1, 32].map((sequenceLength) => ({
              tp,
              batchSize,
              sequenceLength,
              decodeStepSeconds: 0.1 + at(tp) + 0.01 * at(tp + 8) * batchSize * sequenceLength,
              prefillSeconds: 0.01 * batchSize * sequenceLength,
              bytes: (20 + batchSize * sequenceLength) / tp,
            })),
          ),
        );
        const demand = { ...workload, gpus, longestTokens: workload.responseTokens + more };
        const choose = (change: object = {}) =>
          selectTp({ rows, gpuMemoryBytes: memory, memoryUtilization: 1 }, { ...demand, ...change });
        const chosen = choose();
        const least = Math.min(...chosen.candidates.map((one) => one.predictedSeconds ?? Number.POSITIVE_INFINITY));
        expect(chosen.predictedSeconds).toBe(least);
        expect(chosen.candidates.find((one) => one.predictedSeconds === least)!.tp).toBe(chosen.tp);
        const shuffled = [...rows].sort((a, b) => at(a.tp * 1000 + a.batchSize) - at(b.tp * 1000 + b.batchSize));
        expect(selectTp({ rows: shuffled, gpuMemoryBytes: memory, memoryUtilization: 1 }, demand)).toEqual(chosen);
        const slower = rows.map((row) => ({
          ...row,
          decodeStepSeconds: row.decodeStepSeconds * 2,
          prefillSeconds: row.prefillSeconds * 2,
        }));
        const twice = selectTp({ rows: slower, gpuMemoryBytes: memory, memoryUtilization: 1 }, demand);
        expect(twice.tp).toBe(chosen.tp);
        expect(twice.predictedSeconds).toBeCloseTo(2 * chosen.predictedSeconds, 6);
        for (const one of choose({ responses: demand.responses * 4 }).candidates) {
          const before = chosen.candidates.find((other) => other.tp === one.tp)!;
          if (one.predictedSeconds !== undefined)
            expect(one.predictedSeconds).toBeGreaterThanOrEqual(before.predictedSeconds! * 0.9);
        }
      }),
      runs(300),
    );
  });
});
