/** `rollflex sweep --policies`: the settings of the user's policies, each combination on the same lengths, and the one to take. */
import { given } from '../../core/collections/given.ts';
import { oneLine } from '../../core/ids/printable.ts';
import { refuse } from '../../errors.ts';
import { basisOf } from '../../sim/colocated/basis.ts';
import { unmetNotes } from '../../sim/comparison/compare-notes.ts';
import { usualRuns } from '../../sim/comparison/compare-options.ts';
import type { ComparisonResult, SchedulerResult } from '../../sim/comparison/result.ts';
import { readingOf, readTraces } from '../files/input/read.ts';
import { basisJson, basisText } from '../job/basis.ts';
import { readMeasured } from '../job/calibration/measured.ts';
import { jobOfOptions } from '../job/job.ts';
import { cappedAt } from '../job/lengths.ts';
import { checkOwn, ownSchedulers } from '../job/own.ts';
import { plain } from '../job/simulation.ts';
import { comparisonTable } from '../job/table.ts';
import { simulateAll } from '../simulate/parts.ts';
import type { SimulateInput } from '../simulate/tasks.ts';
import { print, printJson } from '../terminal/output.ts';
import { fixed, prose } from '../terminal/plain-table.ts';
import { isSilent } from '../terminal/progress.ts';
import type { SweepCommandOptions } from './run.ts';

/** What only the search over the policies that rollflex ships has. */
const notHere = {
  effort: '--effort',
  thorough: '--thorough',
  minTop1: '--min-top1',
  maxLag: '--max-lag',
  resume: '--resume',
} as const;

/** What a sweep over policies of the user recommends for a workload. */
interface OwnAdvice {
  readonly workload: string;
  /** Id of the policy and its settings, or of what rollflex ships where none of the user's is faster. */
  readonly recommended: string;
  readonly isOwn: boolean;
  readonly speedup: number;
  readonly equalTokenSpeedup: number;
  readonly keptTokenRatio: number;
  /** The least ratio that it had to keep. */
  readonly minKept: number;
}

/** Compares every combination of the settings, and prints which to take. Throws as `ownSchedulers`, and as `runSweep` does. */
export async function sweepOwn(paths: readonly string[], options: SweepCommandOptions): Promise<void> {
  checkOwn(options);
  for (const [name, flag] of Object.entries(notHere)) {
    const got = options[name as keyof typeof notHere];
    if (got !== undefined)
      refuse('invalid_input', flag, `--policies without ${flag}: all their settings are tried`, got);
  }
  if (options.job === 'pools') refuse('invalid_input', '--job', 'synchronous, with --policies', options.job);
  const measured = await readMeasured(options.calibrate, options);
  const first = jobOfOptions(jobOptionsOf(options), measured);
  const own = await ownSchedulers(options, first.job);
  const traces = await readTraces(paths, readingOf(options), isSilent(options));
  const cap = options.cap ?? cappedAt(traces);
  const { job, capTokens } = cap === undefined ? first : jobOfOptions({ ...jobOptionsOf(options), cap }, measured);
  const { steps = usualRuns.steps, seed, epochs, resampling, correlation, json, quiet } = options;
  const { fromLog, session, policies, set, predict, predictSigma } = options;
  const input: SimulateInput = {
    job,
    capTokens,
    traces,
    factors: { promptSpeculation: 1.25, responseSpeculation: 1.25 },
    steps,
    seeds: usualRuns.seeds,
    seed,
    resampling,
    correlation,
    ...given({ fromLog, session, policies, set, predict, predictSigma, epochs }),
  };
  const nothing = (): void => undefined;
  const silent = { begin: nothing, comparison: nothing, part: nothing, pools: nothing, vlm: nothing };
  const { comparisons } = await simulateAll(input, { own, ...given({ json, quiet }) }, silent);
  const ids = new Set(own.map(({ id }) => id));
  const recommendations = comparisons.map((one) => adviceOf(one, ids, options.minKept));
  if (json) {
    printJson({ ...basisJson(basisOf(job)), recommendations, comparisons: comparisons.map(plain.comparisons) });
    return;
  }
  print(`${basisText(basisOf(job))}\n`);
  for (const [index, comparison] of comparisons.entries()) {
    print(comparisonTable(comparison, false));
    const { predict } = comparison.workload;
    print(
      prose(
        `${steps} steps on ${usualRuns.seeds} seeds.${predict === undefined ? '' : ` Prompts come with predicted lengths: ${predict}.`}`,
      ),
    );
    for (const text of unmetNotes(comparison.schedulers)) print(prose(oneLine(text)));
    print(`${prose(adviceText(recommendations[index]!))}\n`);
  }
}

const jobOptionsOf = ({ job: _, ...options }: SweepCommandOptions) => options;

/** Chooses the fastest of the user's policies among those that keep enough, or what rollflex ships if that is faster. */
function adviceOf({ workload, schedulers }: ComparisonResult, own: ReadonlySet<string>, least?: number): OwnAdvice {
  const [, tail] = schedulers;
  const minKept = least ?? Math.min(1, tail!.keptTokenRatio);
  const fastest = (some: readonly SchedulerResult[]): SchedulerResult | undefined =>
    some
      .filter(({ keptTokenRatio }) => keptTokenRatio >= minKept)
      .toSorted((a, b) => b.speedup.value - a.speedup.value)[0];
  const best = fastest(schedulers) ?? schedulers[0]!;
  return {
    workload: workload.name,
    recommended: best.scheduler,
    isOwn: own.has(best.scheduler),
    speedup: best.speedup.value,
    equalTokenSpeedup: best.equalTokenSpeedup.value,
    keptTokenRatio: best.keptTokenRatio,
    minKept,
  };
}

function adviceText({
  workload,
  recommended,
  isOwn,
  speedup,
  equalTokenSpeedup,
  keptTokenRatio,
  minKept,
}: OwnAdvice): string {
  const figures = `${fixed(speedup, 2)} x the synchronous baseline, ${fixed(equalTokenSpeedup, 2)} x at equal tokens, kept tokens ${fixed(keptTokenRatio, 2)}`;
  const what = isOwn ? `take ${recommended}` : `none of yours is faster on average than ${recommended}`;
  return `${workload}: among those that keep ${fixed(minKept, 2)} of the tokens or more, ${what}: ${figures}.`;
}
