/**
 * Shows how often the interval of `what-if` holds what would really have been. Jobs are simulated with lengths and engines that only
 * they know: what-if has the log, and the cost model without their deviations. What would really have been is simulated with the true
 * lengths and engines. `npx tsx bench/simulated/what-if.ts [jobs] [first seed] [draws]`, by default 20, 1 and 10; three changes a job.
 */
import { readEventLog } from '../../src/logs/format/read-event-log.ts';
import { losslessTail } from '../../src/recipes/lossless-tail/index.ts';
import { tailBatching } from '../../src/recipes/tail-batching/index.ts';
import { simulate } from '../../src/sim/colocated/driver.ts';
import type { Job } from '../../src/sim/colocated/job.ts';
import {
  type BatchShape,
  losslessTailScheduler,
  type Scheduler,
  synchronousBaseline,
  tailBatchingScheduler,
} from '../../src/sim/colocated/scheduler.ts';
import { sumOf } from '../../src/sim/comparison/metrics.ts';
import { ForkedHost } from '../../src/sim/what-if/forked-host.ts';
import { loggedJob } from '../../src/sim/what-if/logged-job.ts';
import { whatIfOf } from '../../src/sim/what-if/what-if.ts';
import { longTailQuantile, marginalWorkload } from '../../src/sim/workload/marginal.ts';
import { normal, pickIndex, uniform } from '../../src/sim/workload/random.ts';
import { plainJob, recording } from '../../test/support/simulator/host.ts';

const [jobs = 20, firstSeed = 1, draws = 10] = process.argv.slice(2).map(Number);
const capTokens = 2000;
const trained = 192;
const model = plainJob(
  { engines: 4, promptsPerRound: 8, responsesPerPrompt: 4 },
  { overheadSeconds: 0.004, secondsPerSequence: 0.0003, secondsPerContextToken: 1e-6, prefillSecondsPerToken: 5e-5 },
);

/** The engines of a job: each constant is off the model by some 40 %. */
function engines(seed: number): Job {
  const off = (key: number): number => Math.exp(0.4 * normal(seed, key));
  const { cost } = model;
  return {
    ...model,
    cost: {
      ...cost,
      memoryBoundSeconds: cost.memoryBoundSeconds * off(1),
      overheadSeconds: cost.overheadSeconds * off(2),
      secondsPerSequence: cost.secondsPerSequence * off(3),
      secondsPerContextToken: cost.secondsPerContextToken * off(4),
      prefillSecondsPerToken: cost.prefillSecondsPerToken * off(5),
      trainBaseSeconds: uniform(seed, 6),
    },
  };
}

const truthOf = (seed: number) =>
  marginalWorkload({
    name: 'truth',
    responseTokens: longTailQuantile({
      medianTokens: 60 + 80 * uniform(seed, 11),
      sigma: 0.4 + 0.5 * uniform(seed, 12),
      tailWeight: 0.2 * uniform(seed, 13),
      tailStartTokens: 250,
      tailExponent: 0.7 + uniform(seed, 14),
    }),
    promptTokens: () => 30,
    correlation: 0.6 * uniform(seed, 15),
    capTokens,
    seed,
  });

interface Change {
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly scheduler?: (shape: BatchShape) => Scheduler;
}

const kinds = [
  {
    definition: tailBatching,
    scheduler: (job: Job) => tailBatchingScheduler(job),
    changes: [
      { settings: { promptSpeculation: 1.5 } },
      { settings: { promptSpeculation: 1 } },
      { settings: { responseSpeculation: 1.5 } },
      { settings: { responseSpeculation: 1 } },
      { scheduler: synchronousBaseline },
      { scheduler: (job) => losslessTailScheduler(job, { maxStaleness: 2 }) },
    ] as Change[],
  },
  {
    definition: losslessTail,
    scheduler: (job: Job) => losslessTailScheduler(job, { maxStaleness: 2, promptSpeculation: 1.25 }),
    changes: [
      { settings: { promptSpeculation: 1.5 } },
      { settings: { promptSpeculation: 1 } },
      { settings: { maxStaleness: 1 } },
      { scheduler: synchronousBaseline },
      { scheduler: tailBatchingScheduler },
    ] as Change[],
  },
] as const;

const tally = { saved: 0, kept: 0, all: 0, savedWidth: 0, keptWidth: 0 };
for (let seed = firstSeed; seed < firstSeed + jobs; seed += 1) {
  const kind = kinds[seed % kinds.length]!;
  const job = engines(seed);
  const truth = truthOf(seed);
  const lines: string[] = [];
  simulate(job, recording(kind.scheduler(job), lines), truth, { prompts: 1e6, until: trained, seed, timeline: false });
  const logged = loggedJob(readEventLog({ name: 'log', read: () => `${lines.join('\n')}\n` }), 'log');
  for (let number = 0; number < 3; number += 1) {
    const { settings = {}, scheduler } = kind.changes[pickIndex(kind.changes.length, seed, 21, number)]!;
    const at = Math.floor(logged.events.length * (0.2 + 0.5 * uniform(seed, 22, number)));
    const really = (change: Change) => {
      const taking = change.scheduler?.(job);
      const fork = { logged, definition: kind.definition, at, engineIds: [], usualPace: 70 };
      const host = new ForkedHost(
        job,
        { ...fork, settings: change.settings ?? {}, scheduler: taking },
        truth,
        trained,
        1,
      );
      const { steps: all } = host.run();
      const steps = all.slice(host.drainedRounds);
      const last = steps.at(-1)!;
      return {
        seconds: last.startSeconds + last.rolloutSeconds - logged.events[at - 1]!.event.at,
        tokens: sumOf(steps, (one) => one.keptTokens) / sumOf(steps, (one) => one.responses),
      };
    };
    const [was, would] = [really({}), really({ settings, ...(scheduler === undefined ? {} : { scheduler }) })];
    const answer = whatIfOf({
      logged,
      definition: kind.definition,
      at,
      settings,
      ...(scheduler === undefined ? {} : { scheduler }),
      job: model,
      fits: true,
      capTokens,
      seeds: Array.from({ length: draws }, (_, index) => index + 1),
    });
    const truly = { saved: 1 - would.seconds / was.seconds, kept: would.tokens / was.tokens };
    const shown = (['saved', 'kept'] as const).map((what) => {
      const { value, low, high } = answer[what];
      const holds = low <= truly[what] && truly[what] <= high;
      if (holds) tally[what] += 1;
      tally[`${what}Width`] += high - low;
      return `${what} ${truly[what].toFixed(3)} ${value.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})${holds ? '' : ' MISSED'}`;
    });
    tally.all += 1;
    const change = scheduler === undefined ? JSON.stringify(settings) : scheduler(job).id;
    console.log(`${seed} ${kind.definition.id} at ${at} ${change}: ${shown.join('; ')}`);
  }
}
const { all } = tally;
console.log(
  `time ${tally.saved} of ${all}, mean width ${(tally.savedWidth / all).toFixed(3)}; tokens ${tally.kept} of ${all}, mean width ${(tally.keptWidth / all).toFixed(3)}`,
);
