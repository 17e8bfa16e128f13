/** `rollflex sweep`: which settings would save most on these response lengths? */
import { availableParallelism } from 'node:os';
import ora from 'ora';
import type { SweepEffortId } from '../sim/sweep/effort.ts';
import type { SweepAdvice } from '../sim/sweep/result.ts';
import type { SweepRun } from '../sim/sweep/run.ts';
import type { SweepBatch } from '../sim/sweep/search.ts';
import { sweeping } from '../sim/sweep/sweep.ts';
import { print, printJson } from './output.ts';
import { type NamedProblem, runKey, type SweepInput, sweepProblems } from './sweep-problem.ts';
import { SweepState } from './sweep-state.ts';
import { adviceText } from './sweep-table.ts';
import { type SweepHands, sweepHands } from './sweep-workers.ts';

/** Options as the command line gives them. */
export interface SweepCommandOptions extends Omit<SweepInput, 'paths'> {
  readonly effort: SweepEffortId;
  readonly minKept?: number;
  readonly seed: number;
  readonly workers?: number;
  readonly resume?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Sweeps, and prints what it found. */
export async function runSweep(paths: readonly string[], options: SweepCommandOptions): Promise<void> {
  const { effort, minKept, seed, workers, resume, json, quiet, ...rest } = options;
  const input: SweepInput = { ...rest, paths };
  const problems = sweepProblems(input);
  const state = resume === undefined ? undefined : new SweepState(resume);
  const hands = sweepHands(workers ?? availableParallelism(), input, problems);
  const asked = { effort, seed, ...(minKept === undefined ? {} : { minKept }) };
  const recommendations: SweepAdvice[] = [];
  try {
    for (const [place, problem] of problems.entries()) {
      const work = { problem, place, hands, state, isQuiet: (quiet ?? false) || (json ?? false) };
      recommendations.push(await sweepOne(work, asked));
    }
  } finally {
    await hands.close();
  }
  if (json) {
    printJson({ recommendations });
    return;
  }
  for (const one of recommendations) print(adviceText(one, quiet ?? false));
}

interface Work {
  readonly problem: NamedProblem;
  readonly place: number;
  readonly hands: SweepHands;
  readonly state: SweepState | undefined;
  readonly isQuiet: boolean;
}

async function sweepOne(work: Work, asked: Parameters<typeof sweeping>[1]): Promise<SweepAdvice> {
  const { problem } = work.problem;
  const search = sweeping(problem, asked);
  const { name } = problem.workload(asked?.seed ?? 1);
  // A pseudo-terminal without a size has 0 columns, and on those the spinner would count its lines without end.
  const show = process.stderr.isTTY === true && process.stderr.columns > 0 && !work.isQuiet;
  const spinner = ora({ isEnabled: show, isSilent: !show, text: `sweeping ${name}` }).start();
  const clock = { begun: performance.now(), made: 0 };
  try {
    let next = search.next();
    while (next.done !== true) {
      const batch = next.value;
      const runs = await runsOf(
        batch,
        work,
        (done) => {
          spinner.text = `sweeping ${name}: ${progressOf(batch, done, clock)}`;
        },
        clock,
      );
      next = search.next(runs);
    }
    return next.value;
  } finally {
    spinner.stop();
  }
}

/** Runs of a batch: those that the file has, and those that are made. */
async function runsOf(
  { tasks }: SweepBatch,
  { problem, place, hands, state }: Work,
  progress: (done: number) => void,
  clock: { made: number },
): Promise<SweepRun[]> {
  const keys = tasks.map((task) => runKey(problem.fingerprint, task));
  const runs: (SweepRun | undefined)[] = keys.map((key) => state?.get(key));
  const missing = [...tasks.keys()].filter((index) => runs[index] === undefined);
  let done = tasks.length - missing.length;
  progress(done);
  await hands.make(
    place,
    missing.map((index) => tasks[index]!),
    (index, run) => {
      const at = missing[index]!;
      runs[at] = run;
      state?.put(keys[at]!, run);
      done += 1;
      clock.made += 1;
      progress(done);
    },
  );
  return runs as SweepRun[];
}

function progressOf(
  { phase, doneRuns, plannedRuns }: SweepBatch,
  done: number,
  { begun, made }: { readonly begun: number; readonly made: number },
): string {
  const so = doneRuns + done;
  const left = plannedRuns - so;
  // The first runs take longer: a trace is read, and code is not yet compiled.
  const seconds = made < 4 ? undefined : (left * (performance.now() - begun)) / made / 1000;
  const remains = seconds === undefined ? '' : `, about ${Math.ceil(seconds)} s left`;
  return `${phase}, ${so} of about ${plannedRuns} runs${remains}`;
}
