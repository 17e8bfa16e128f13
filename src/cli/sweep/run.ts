/** `rollflex sweep`: finds the settings that save most time for these response lengths. */
import { availableParallelism } from 'node:os';
import { given } from '../../core/collections/given.ts';
import { refuse } from '../../errors.ts';
import type { SweepEffortId } from '../../sim/sweep/effort.ts';
import type { SweepAdvice, SweepLimits } from '../../sim/sweep/result.ts';
import type { SweepRun } from '../../sim/sweep/run.ts';
import type { FoundSettings, SweepBatch } from '../../sim/sweep/search/batch.ts';
import { sweeping } from '../../sim/sweep/sweep.ts';
import { foundText } from '../advise/progress.ts';
import { readingOf, readTraces, type TextOptions } from '../files/input/read.ts';
import { checkOutputs } from '../files/written.ts';
import { basisJson, basisText } from '../job/basis.ts';
import { readMeasured } from '../job/calibration/measured.ts';
import { cappedAt, filesRead } from '../job/lengths.ts';
import { checkOwn, type OwnOptions } from '../job/own.ts';
import { print, printJson } from '../terminal/output.ts';
import { isSilent, Progress, type Shown } from '../terminal/progress.ts';
import { type Workers, workersFor } from '../threads/workers.ts';
import { type NamedProblem, type PlacedTask, runKey, type SweepInput, sweepProblems, sweepWork } from './problem.ts';
import { SweepState } from './state.ts';
import { adviceText } from './text.ts';

/** Options as the command line gives them. */
export interface SweepCommandOptions
  extends Omit<SweepInput, 'traces' | 'measured'>,
    TextOptions,
    SweepLimits,
    OwnOptions {
  readonly effort?: SweepEffortId;
  readonly thorough?: boolean;
  readonly seed: number;
  readonly epochs?: number;
  readonly workers?: number;
  readonly resume?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Runs the sweep, and prints the recommendation. */
export async function runSweep(paths: readonly string[], options: SweepCommandOptions): Promise<void> {
  checkOwn(options);
  const {
    effort,
    thorough,
    minKept,
    minTop1,
    maxLag,
    seed,
    epochs = 1,
    workers,
    resume,
    json,
    quiet,
    ...rest
  } = options;
  if (rest.job === 'pools' && epochs > 1)
    refuse('invalid_input', '--epochs', '--job synchronous with --epochs', epochs);
  checkOutputs({ '--resume': resume }, rest.task === undefined ? filesRead(paths, rest) : []);
  const measured = await readMeasured(rest.calibrate, rest);
  const traces = await readTraces(paths, readingOf(rest), isSilent(options));
  const input: SweepInput = {
    ...rest,
    ...given({ cap: rest.cap ?? cappedAt(traces) }),
    traces,
    ...given({ measured }),
  };
  const problems = sweepProblems(input);
  const state = resume === undefined ? undefined : new SweepState(resume);
  const pool = workersFor(workers ?? availableParallelism(), { kind: 'sweep', input }, () => sweepWork(problems));
  const asked = { ...given({ effort, thorough }), seed, epochs, minKept, minTop1, maxLag };
  const recommendations: SweepAdvice[] = [];
  const printAll = (partial?: Partial): void => {
    const basis = recommendations[0]?.basis;
    if (json)
      return printJson({ ...given({ partial }), ...(basis === undefined ? {} : basisJson(basis)), recommendations });
    if (basis !== undefined) print(`${basisText(basis)}\n`);
    for (const one of recommendations) print(adviceText(one, quiet ?? false));
  };
  const onStop = (found: FoundSettings | undefined): void => {
    const partial = { recommendations: recommendations.length, of: problems.length, ...given({ found }) };
    if (json || recommendations.length > 0) printAll(partial);
  };
  try {
    for (const [problemIndex, problem] of problems.entries()) {
      const work = { problem, problemIndex, pool, state, resume, isQuiet: isSilent(options), onStop };
      recommendations.push(await sweepOne(work, asked));
    }
  } finally {
    await pool.close();
  }
  printAll();
}

/** What there is of a sweep that was stopped: whole recommendations, and the best settings so far for the next workload. */
interface Partial {
  readonly recommendations: number;
  readonly of: number;
  readonly found?: FoundSettings;
}

interface Work {
  readonly problem: NamedProblem;
  readonly problemIndex: number;
  readonly pool: Workers<PlacedTask, SweepRun>;
  readonly state: SweepState | undefined;
  readonly resume: string | undefined;
  readonly isQuiet: boolean;
  readonly onStop: (found: FoundSettings | undefined) => void;
}

function stopped(resume: string | undefined, found: FoundSettings | undefined): string {
  const sofar = found === undefined ? '' : `; ${foundText(found)}`;
  return resume === undefined
    ? `stopped: with --resume FILE a sweep keeps its runs, and the same command goes on from them${sofar}`
    : `stopped: the same command, with --resume ${resume}, goes on from here${sofar}`;
}

async function sweepOne(work: Work, asked: Parameters<typeof sweeping>[1]): Promise<SweepAdvice> {
  const { problem } = work.problem;
  const search = sweeping(problem, asked);
  const { name } = problem.workload(asked?.seed ?? 1);
  const { isQuiet, resume, onStop } = work;
  let found: FoundSettings | undefined;
  const end = (): string => {
    onStop(found);
    return stopped(resume, found);
  };
  const progress = new Progress({ text: `sweeping ${name}`, isQuiet, stopped: end });
  // Runs that are stored already take no time.
  const clock = { begun: performance.now(), stored: 0 };
  try {
    let next = await progress.step(() => search.next());
    while (next.done !== true) {
      const batch = next.value;
      found = batch.found ?? found;
      const shown = (done: number): void => progress.show(shownOf(name, batch, done, clock));
      const runs = await runsOf(batch, { ...work, progress, shown, clock });
      next = await progress.step(() => search.next(runs));
    }
    return next.value;
  } finally {
    progress.stop();
  }
}

interface Batch extends Work {
  readonly progress: Progress;
  shown(done: number): void;
  readonly clock: { stored: number };
}

/** Returns the runs of a batch: stored runs from the file, and new runs for the rest. */
async function runsOf({ tasks, responses: { next } }: SweepBatch, work: Batch): Promise<SweepRun[]> {
  const { problem, problemIndex, pool, state, progress, shown, clock } = work;
  const keys = tasks.map((task) => runKey(problem.fingerprint, task));
  const runs: (SweepRun | undefined)[] = keys.map((key) => state?.get(key));
  const missing = [...tasks.keys()].filter((index) => runs[index] === undefined);
  let done = tasks.length - missing.length;
  clock.stored += (next * done) / tasks.length;
  shown(done);
  const wanted = missing.map((index) => ({ problemIndex, task: tasks[index]! }));
  await pool.make(wanted, progress, (index, run) => {
    const at = missing[index]!;
    runs[at] = run;
    state?.put(keys[at]!, run);
    done += 1;
    shown(done);
  });
  return runs as SweepRun[];
}

/** Share of the work from which the time left is known: the first runs read a trace, and code is not yet compiled. */
const leastKnown = 0.05;

function shownOf(
  name: string,
  { phase, tasks, doneRuns, plannedRuns, responses: { done: before, next, planned }, found }: SweepBatch,
  done: number,
  { begun, stored }: { readonly begun: number; readonly stored: number },
): Shown {
  const responses = before + (next * done) / tasks.length;
  const share = Math.min(1, responses / planned);
  const made = responses - stored;
  const seconds = (performance.now() - begun) / 1000;
  return {
    text: `sweeping ${name}: ${phase}, ${doneRuns + done} of about ${plannedRuns} runs`,
    share,
    secondsLeft: made < leastKnown * planned ? undefined : (seconds * (planned - responses)) / made,
    found: found === undefined ? undefined : foundText(found),
  };
}
