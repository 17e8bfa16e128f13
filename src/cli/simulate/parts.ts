/** Runs the tasks of `rollflex simulate`, in threads if that is faster, and prints each part as soon as it is complete. */
import { availableParallelism } from 'node:os';
import type { Scheduler } from '../../sim/colocated/scheduler.ts';
import type { ComparisonResult } from '../../sim/comparison/result.ts';
import type { PoolsComparison } from '../../sim/pools/result.ts';
import type { VlmComparison } from '../../sim/vlm-formulas/result.ts';
import { bundledPools } from '../pools/run.ts';
import { isSilent, Progress } from '../terminal/progress.ts';
import { workersFor } from '../threads/workers.ts';
import { bundledVlm } from '../vlm/run.ts';
import { comparisonsOf, type SimulateInput, type SimulateMade, type SimulateTask, simulateWork } from './tasks.ts';
import type { SimulateOutput } from './text.ts';

/** The simulations other than comparisons, and options of the display. */
export interface SimulateAsked {
  /** Those of the user's policies. */
  readonly own?: readonly Scheduler[];
  readonly pools?: boolean;
  readonly vlm?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Results of all simulations. */
export interface Simulated {
  readonly comparisons: ComparisonResult[];
  readonly pools: PoolsComparison[];
  readonly vlm: VlmComparison[];
}

/** Duration of each kind of task, relative to a run of the default job. */
const weights = { run: 1, pools: 0.7, tail: 0.7, vlm: 2.4 } as const;

/** Tasks that are printed together: one comparison, or all tasks of another kind. */
interface Part {
  readonly tasks: readonly SimulateTask[];
  tell(made: readonly SimulateMade[]): void;
  /** Tells what there is before all tasks are done. */
  tellSoFar?(made: ReadonlyMap<SimulateTask, SimulateMade>): void;
}

/** What there is if Ctrl-C ends the simulations. */
export interface Stopped {
  /** Comparisons on fewer seeds than asked for, too: their settings name these. */
  readonly found: Simulated;
  /** Tasks that are done, and all. */
  readonly runs: number;
  readonly of: number;
}

/** Responses from which threads save more than their start costs, some tenths of a second. */
const responsesWorthThreads = 20_000;
const mostThreads = 8;

function threadsFor({ job, steps, seeds, fromLog }: SimulateInput): number {
  const responses = steps * seeds * job.promptsPerRound * job.responsesPerPrompt;
  if (responses < responsesWorthThreads) return 1;
  // A thread would read the log again, which may have grown since.
  if (fromLog !== undefined) return 1;
  return Math.min(mostThreads, availableParallelism());
}

/** Does all tasks; `output` receives each part when it is complete, in the order of the parts. */
export async function simulateAll(
  input: SimulateInput,
  asked: SimulateAsked,
  output: Pick<SimulateOutput, 'begin' | 'comparison' | 'part' | 'pools' | 'vlm'>,
  onStop: (stopped: Stopped) => void = () => undefined,
): Promise<Simulated> {
  const prepared = comparisonsOf(input, asked.own);
  const found: Simulated = { comparisons: [], pools: [], vlm: [] };
  const each = (kind: SimulateTask['kind'], count: number, of?: number): SimulateTask[] =>
    Array.from({ length: count }, (_, index) => ({ kind, of: of ?? index, place: index }));
  const parts: Part[] = prepared.map(({ totalRuns, compared, comparedSoFar }, of) => ({
    tasks: each('run', totalRuns, of),
    tellSoFar: (made) => {
      const comparison = comparedSoFar(new Map([...made].map(([{ place }, one]) => [place, one.run!])));
      if (comparison === undefined) return;
      found.comparisons.push(comparison);
      output.part(comparison, input.seeds);
    },
    tell: (made) => {
      const comparison = compared(made.map((one) => one.run!));
      found.comparisons.push(comparison);
      output.comparison(comparison);
    },
  }));
  if (asked.pools) {
    const count = bundledPools(input.seed).length;
    parts.push({
      tasks: [...each('pools', count), ...(asked.quiet || asked.json ? [] : each('tail', 1))],
      tell: (made) => {
        found.pools.push(...made.slice(0, count).map((one) => one.pools!));
        output.pools(found.pools, made[count]?.pools);
      },
    });
  }
  if (asked.vlm) {
    parts.push({
      tasks: each('vlm', bundledVlm(input.seed).length),
      tell: (made) => {
        found.vlm.push(...made.map((one) => one.vlm!));
        output.vlm(found.vlm);
      },
    });
  }
  output.begin(input.job);
  await doAll(parts, input, {
    prepared: () => prepared,
    asked,
    onStop: (runs, of) => {
      onStop({ found, runs, of });
      return Object.values(found).some(({ length }) => length > 0);
    },
  });
  return found;
}

async function doAll(
  parts: readonly Part[],
  input: SimulateInput,
  {
    prepared,
    asked: { quiet = false, json = false },
    onStop,
  }: {
    readonly prepared: Parameters<typeof simulateWork>[1];
    readonly asked: SimulateAsked;
    /** Returns whether there is a result. */
    readonly onStop: (runs: number, of: number) => boolean;
  },
): Promise<void> {
  const tasks = parts.flatMap((part) => part.tasks);
  const count = Math.min(threadsFor(input), tasks.length);
  const pool = workersFor<SimulateTask, SimulateMade>(count, { kind: 'simulate', input }, () =>
    simulateWork(input, prepared),
  );
  const stopped = (): string => {
    for (const { tellSoFar, made } of waiting) tellSoFar?.(made);
    const what = onStop(doneRuns, tasks.length) ? 'the result is partial' : 'there is no result yet';
    return `stopped after ${doneRuns} of ${tasks.length} runs: ${what}, and no file was written`;
  };
  const progress = new Progress({ text: 'simulating', isQuiet: isSilent({ quiet, json }), stopped });
  const all = tasks.reduce((sum, { kind }) => sum + weights[kind], 0);
  let done = 0;
  let doneRuns = 0;
  const waiting = parts.map((part) => ({ ...part, made: new Map<SimulateTask, SimulateMade>() }));
  const partOf = new Map(waiting.flatMap((part) => part.tasks.map((task) => [task, part])));
  try {
    await pool.make(tasks, progress, (index, one) => {
      const task = tasks[index]!;
      partOf.get(task)!.made.set(task, one);
      done += weights[task.kind];
      doneRuns += 1;
      progress.done = done / all;
      // A complete part waits for the parts before it, so that the order is always the same.
      while (waiting[0] !== undefined && waiting[0].made.size === waiting[0].tasks.length) {
        const { tasks: own, made, tell } = waiting.shift()!;
        tell(own.map((each) => made.get(each)!));
      }
    });
  } finally {
    progress.stop();
    await pool.close();
  }
}
