/** Disaggregated pools: against an oracle on steady engines, and what holds on any engine. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sumOf } from '../../src/sim/comparison/metrics.ts';
import { simulatePools } from '../../src/sim/pools/driver.ts';
import { poolsLengths, rolloutpipeJob } from '../../src/sim/pools/presets.ts';
import { type FrontierWidth, type PoolsScheduler, poolsScheduler } from '../../src/sim/pools/scheduler.ts';
import { marginalWorkload } from '../../src/sim/workload/marginal.ts';
import { normalQuantile } from '../../src/sim/workload/random.ts';
import { runs } from '../support/basics/runs.ts';
import { expectedRound, recorded, steadyJob, workloadOf } from '../support/simulator/pools.ts';

const schedulers = fc
  .record({ pipelining: fc.boolean(), width: fc.oneof(fc.constant('all' as const), fc.integer({ min: 1, max: 6 })) })
  .map(({ pipelining, width }) => poolsScheduler('any', 'any', pipelining, width as FrontierWidth));

// Two groups that are complete at the same moment would be a tie, which the oracle does not settle.
const rounds = fc
  .record({
    k: fc.integer({ min: 1, max: 3 }),
    u: fc.integer({ min: 1, max: 3 }),
    train: fc.double({ min: 0.001, max: 1, noNaN: true }),
    step: fc.constantFrom(0, 2.5),
    lengths: fc.array(fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 3, maxLength: 3 }), {
      minLength: 1,
      maxLength: 12,
    }),
  })
  .map(({ lengths, k, ...rest }) => ({ ...rest, k, lengths: lengths.map((group) => group.slice(0, k)) }));

test('a round on steady engines takes what the oracle says', () => {
  fc.assert(
    fc.property(rounds, schedulers, ({ k, u, train, step, lengths }, scheduler) => {
      const steady = steadyJob({
        groupsPerRound: lengths.length,
        responsesPerPrompt: k,
        globalBatchSamples: u * k,
        verifier: { medianSeconds: 0.25 },
      });
      const job = { ...steady, cost: { ...steady.cost, trainSecondsPerToken: train, trainBaseSeconds: step } };
      const expected = expectedRound(job, scheduler, lengths);
      fc.pre(expected.ties === 0);
      const [round] = simulatePools(job, scheduler, workloadOf(lengths), { rounds: 1, seed: 1 }).rounds;
      for (const [name, value] of Object.entries(expected)) {
        if (name !== 'ties') expect(round![name as 'mainSeconds'], name).toBeCloseTo(value, 6);
      }
    }),
    runs(300),
  );
});

/** A job of RolloutPipe, made small enough for preemptions and queues. */
const jobs = fc
  .record({
    groups: fc.integer({ min: 1, max: 12 }),
    u: fc.integer({ min: 1, max: 3 }),
    engines: fc.integer({ min: 1, max: 3 }),
    slots: fc.integer({ min: 1, max: 40 }),
    kv: fc.integer({ min: 9000, max: 60_000 }),
    spread: fc.constantFrom(0, 1),
  })
  .map(({ groups, u, engines, slots, kv, spread }) => {
    const job = rolloutpipeJob(groups, { engines, responsesPerPrompt: 4, globalBatchSamples: 4 * u });
    const cost = { ...job.cost, maxRunningSequences: slots, kvCapacityTokens: kv };
    return { ...job, cost, verifier: { ...job.verifier, medianSeconds: 2, spread } };
  });
const workload = (seed: number) =>
  marginalWorkload({
    name: 'w',
    responseTokens: (share) => 800 * Math.exp(poolsLengths.sigma * normalQuantile(share)),
    promptTokens: () => 150,
    correlation: 0.6,
    capTokens: 8192,
    seed,
  });
const run = (job: Parameters<typeof simulatePools>[0], scheduler: PoolsScheduler, seed: number) =>
  simulatePools(job, scheduler, workload(seed), { rounds: 2, seed, validate: true });

describe('on any engine', () => {
  const cases = fc.tuple(jobs, schedulers, fc.integer({ min: 1, max: 50 }));

  test('every group is trained once, every token is kept, and the trainer does one thing at a time', () => {
    fc.assert(
      fc.property(cases, ([job, given, seed]) => {
        const { scheduler, decisions } = recorded(given);
        const { rounds: done, rows } = run(job, scheduler, seed);
        const dispatched = decisions.filter((one) => one.type === 'train.dispatch') as unknown as {
          groups: string[];
        }[];
        const trained = dispatched.flatMap((one) => one.groups);
        expect(new Set(trained).size).toBe(trained.length);
        expect(trained).toHaveLength(2 * job.groupsPerRound);
        const dealt = workload(seed);
        let [tokens, prompts] = [0, 0];
        for (let index = 0; index < 2 * job.groupsPerRound; index += 1) {
          const prompt = dealt.prompt(index);
          prompts += job.responsesPerPrompt * prompt.promptTokens;
          for (let k = 0; k < job.responsesPerPrompt; k += 1) tokens += prompt.sample(k).tokens;
        }
        expect(sumOf(done, (one) => one.tokens)).toBe(tokens);
        const seconds = (tokens + prompts) * job.cost.trainSecondsPerToken;
        expect(sumOf(done, (one) => one.computeSeconds)).toBeCloseTo(seconds, 6);
        expect(rows.at(-1)!.busySeconds).toBeCloseTo(seconds, 6);
        for (const { timeline } of rows) {
          const wrong = timeline.filter(
            (one, index) =>
              one.endSeconds <= one.startSeconds ||
              (index > 0 && one.startSeconds < timeline[index - 1]!.endSeconds - 1e-9),
          );
          expect(wrong).toEqual([]);
        }
      }),
      runs(60),
    );
  });

  test('wait and compute are the main time; ratios follow; rounds do not overlap; the frontier bounds what runs', () => {
    fc.assert(
      fc.property(cases, ([job, scheduler, seed]) => {
        const { rounds: done } = run(job, scheduler, seed);
        const groupsPerUpdate = job.globalBatchSamples / job.responsesPerPrompt;
        done.forEach((one, index) => {
          expect(one.waitSeconds + one.computeSeconds).toBeCloseTo(one.mainSeconds, 6);
          expect(one.computeWaitingRatio).toBeCloseTo(one.waitSeconds / one.mainSeconds, 9);
          expect(one.startWaitingRatio).toBeCloseTo(one.firstDispatchSeconds / one.mainSeconds, 9);
          expect(one.recoverySeconds).toBeCloseTo(one.rewardedSeconds - one.firstBatchSeconds, 9);
          expect(one.updates).toBe(Math.ceil(job.groupsPerRound / groupsPerUpdate));
          if (!scheduler.pipelining) expect(one.firstDispatchSeconds).toBeCloseTo(one.rewardedSeconds, 9);
          if (index > 0) expect(one.startSeconds).toBe(done[index - 1]!.endSeconds);
          expect(one.publishSeconds).toBeCloseTo(job.cost.weightSyncSeconds, 6);
          if (scheduler.width === 'all') return;
          expect(one.mostInService).toBeLessThanOrEqual((scheduler.width as number) * job.responsesPerPrompt);
        });
      }),
      runs(60),
    );
  });

  test('the same seed gives the same run; pipelining never makes a round longer', () => {
    fc.assert(
      fc.property(cases, ([job, { width }, seed]) => {
        const serial = run(job, poolsScheduler('any', 'any', false, width), seed);
        const pipelined = run(job, poolsScheduler('any', 'any', true, width), seed);
        expect(run(job, poolsScheduler('any', 'any', true, width), seed)).toEqual(pipelined);
        pipelined.rounds.forEach((one, index) => {
          const other = serial.rounds[index]!;
          // The rollout is the same, and so is the work.
          expect(one.rolloutSeconds).toBeCloseTo(other.rolloutSeconds, 6);
          expect(one.computeSeconds).toBeCloseTo(other.computeSeconds, 6);
          expect(one.mainSeconds).toBeLessThanOrEqual(other.mainSeconds + 1e-6);
        });
      }),
      runs(40),
    );
  });
});
