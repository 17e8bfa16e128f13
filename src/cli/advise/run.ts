/** `rollflex advise`: finds, from the dump of a trainer, the settings to switch on in this trainer. */
import { availableParallelism } from 'node:os';
import { given } from '../../core/collections/given.ts';
import {
  type AdviseRun,
  type AdviseTask,
  type AdviseWork,
  adviseEvaluator,
  advising,
} from '../../sim/advise/advising.ts';
import type { Answer } from '../../sim/advise/answer.ts';
import { selectingOf } from '../../sim/advise/selecting.ts';
import { type TrainerId, trainerOf, trainerOfReader } from '../../sim/advise/trainers.ts';
import type { SweepOptions } from '../../sim/sweep/result.ts';
import type { DumpSummary } from '../../sim/trace/import/import.ts';
import type { TraceWorkloadOptions } from '../../sim/workload/of-trace.ts';
import { inputFiles, readPaths } from '../files/input/paths.ts';
import { type ReadOptions, readTogether, sayNotes } from '../files/input/read.ts';
import { basisJson } from '../job/basis.ts';
import { readMeasured } from '../job/calibration/measured.ts';
import { type JobOptions, usualCapOf } from '../job/job.ts';
import { print, printJson } from '../terminal/output.ts';
import { isSilent } from '../terminal/progress.ts';
import { type Workers, workersFor } from '../threads/workers.ts';
import type { Advised, Epochs } from './lines.ts';
import { AdviseProgress } from './progress.ts';
import { type AdviseInput, adviseQuestion } from './question.ts';
import { adviceLines } from './text.ts';

/** Options as the command line gives them. */
export interface AdviseOptions
  extends JobOptions,
    Omit<ReadOptions, 'cap'>,
    Pick<TraceWorkloadOptions, 'resampling' | 'correlation'> {
  readonly trainer?: TrainerId;
  readonly steps?: number;
  readonly effort?: SweepOptions['effort'];
  readonly thorough?: boolean;
  readonly minKept?: number;
  readonly maxLag?: number;
  readonly epochs?: number;
  readonly seed: number;
  readonly workers?: number;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Reads, searches, and prints the answer. */
export async function runAdvise(paths: readonly string[], options: AdviseOptions): Promise<void> {
  const { json } = options;
  // Reports a missing file before it reads any.
  readPaths(inputFiles(paths));
  const progress = new AdviseProgress(isSilent(options));
  let advised: Advised;
  try {
    advised = await advise(paths, options, progress);
  } finally {
    progress.stop();
  }
  const { name, summary, notes, answer, epochs } = advised;
  if (json) printJson({ ...basisJson(answer), dump: { name, ...summary, ...notes.toJSON() }, epochs, ...answer });
  else {
    if (options.quiet !== true) sayNotes(notes);
    print(adviceLines(advised).join('\n'));
  }
}

/** Reads, searches and answers. Throws as `readTogether`, `readMeasured` and `advising` do. */
export async function advise(
  paths: readonly string[],
  options: AdviseOptions,
  progress: AdviseProgress,
): Promise<Advised> {
  const { from, tokenizer, tokensPerCharacter, correctFrom, skipBroken, field, repeated, ...rest } = options;
  const reading: ReadOptions = given({
    from,
    tokenizer,
    tokensPerCharacter,
    correctFrom,
    skipBroken,
    field,
    repeated,
    cap: options.cap,
  });
  const { summary, notes, ...trace } = await readTogether(paths, reading, progress);
  const measured = await readMeasured(options.calibrate, reading);
  const job = { ...rest, ...shapeOf(summary, options) };
  const trainer = trainerOf(options.trainer ?? trainerOfReader(trace.trace.reader));
  const input: AdviseInput = {
    ...job,
    job: 'synchronous',
    traces: [trace],
    ...given({ measured }),
    trainer: trainer.id,
  };
  const epochs = epochsOf(summary, options);
  const selecting = selectingOf(trace.trace);
  const answer = { ...(await answered(input, options, epochs, progress)), ...given({ selecting }) };
  const isTrainerKnown = options.trainer !== undefined || trainer.id !== 'own';
  return { name: trace.name, summary, notes, answer, job, epochs, isTrainerKnown };
}

/** Returns the times that each prompt comes: as given, or as in the dump if most prompts came in several steps. */
function epochsOf(summary: DumpSummary | undefined, { epochs }: AdviseOptions): Epochs {
  if (epochs !== undefined) return { count: epochs, from: 'given' };
  const { prompts = 0, distinct = { prompts: 0, returned: 0 } } = summary ?? {};
  const most = distinct.returned > 0 && 2 * distinct.returned >= distinct.prompts;
  return { count: most ? Math.max(2, Math.round(prompts / distinct.prompts)) : 1, from: 'seen' };
}

async function answered(
  input: AdviseInput,
  options: AdviseOptions,
  epochs: Epochs,
  progress: AdviseProgress,
): Promise<Answer> {
  const question = adviseQuestion(input);
  const { effort, thorough, seed, minKept, maxLag, workers } = options;
  const work = advising(question, { ...given({ effort, thorough, minKept, maxLag }), seed, epochs: epochs.count });
  const threads = workers ?? availableParallelism();
  const pool = workersFor<AdviseTask, AdviseRun>(threads, { kind: 'advise', input }, () => adviseEvaluator(question));
  try {
    let next = await progress.step(() => work.next());
    while (next.done !== true) {
      const runs = await made(next.value, pool, progress);
      next = await progress.step(() => work.next(runs));
    }
    return next.value;
  } finally {
    await pool.close();
  }
}

async function made(
  work: AdviseWork,
  pool: Workers<AdviseTask, AdviseRun>,
  progress: AdviseProgress,
): Promise<AdviseRun[]> {
  const { tasks } = work;
  progress.runs(work, 0);
  const runs: AdviseRun[] = [];
  let done = 0;
  await pool.make(tasks, progress, (index, run) => {
    runs[index] = run;
    done += 1;
    progress.runs(work, done / tasks.length);
  });
  return runs;
}

/** Returns the shape of the job: the user's options, and figures of the dump where an option is absent. */
function shapeOf(summary: DumpSummary | undefined, options: AdviseOptions): JobOptions {
  if (summary === undefined) return options;
  const { prompts, steps, responsesPerPrompt, tokens, cappedShare } = summary;
  const ofStep = steps === 0 ? undefined : Math.max(1, Math.round(prompts / steps));
  const ofPrompt = responsesPerPrompt.usual > 1 ? responsesPerPrompt.usual : undefined;
  const promptsPerRound = options.promptsPerRound ?? ofStep;
  const responses = options.responsesPerPrompt ?? ofPrompt;
  const cap = options.cap ?? (cappedShare > 0 ? tokens.longest : Math.max(usualCapOf(options), tokens.longest));
  return {
    cap,
    ...(promptsPerRound === undefined ? {} : { promptsPerRound }),
    ...(responses === undefined ? {} : { responsesPerPrompt: responses }),
  };
}
