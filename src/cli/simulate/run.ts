/** `rollflex simulate`: simulates the time that scheduling saves for these response lengths. */
import { given } from '../../core/collections/given.ts';
import { oneLine } from '../../core/ids/printable.ts';
import { refuse } from '../../errors.ts';
import { basisOf } from '../../sim/colocated/basis.ts';
import type { Job } from '../../sim/colocated/job.ts';
import { withOneStepOff } from '../../sim/colocated/one-step-off.ts';
import type { BatchShape } from '../../sim/colocated/scheduler.ts';
import { usualRuns } from '../../sim/comparison/compare-options.ts';
import { withJudge } from '../../sim/models/judge-preset.ts';
import { perfettoTrace } from '../../sim/report/perfetto.ts';
import { beforeRounds, enginesAt, type LoggedJob } from '../../sim/what-if/logged-job.ts';
import { readingOf, readTraces, type TextOptions } from '../files/input/read.ts';
import { checkOutputs, preparedReport, writeWhole } from '../files/written.ts';
import { basisJson } from '../job/basis.ts';
import { readMeasured } from '../job/calibration/measured.ts';
import { calibratedJson, calibratedText } from '../job/calibration/text.ts';
import { saysCluster } from '../job/cluster.ts';
import { type JobOptions, jobOfOptions } from '../job/job.ts';
import { cappedAt, filesRead, jobOfLog, type LengthOptions } from '../job/lengths.ts';
import { checkOwn, type OwnOptions, ownSchedulers } from '../job/own.ts';
import { plain, type ResultOptions } from '../job/simulation.ts';
import { outlastReader, printJson } from '../terminal/output.ts';
import { type Simulated, simulateAll } from './parts.ts';
import type { SimulateInput } from './tasks.ts';
import { SimulateOutput } from './text.ts';

/** Options as the command line gives them. */
export interface SimulateOptions extends JobOptions, LengthOptions, TextOptions, ResultOptions, OwnOptions {
  readonly eta: number;
  readonly promptSpeculation?: number;
  readonly responseSpeculation?: number;
  readonly steps?: number;
  readonly seeds: number;
  readonly seed: number;
  readonly epochs?: number;
  readonly ablation?: boolean;
  readonly oneStepOff?: boolean;
  readonly judge?: 'workers' | 'dedicated' | 'colocated';
  readonly vlm?: boolean;
  readonly pools?: boolean;
  readonly perfetto?: string;
  readonly verbose?: boolean;
}

/** Runs the simulation, prints each workload as soon as it is done, and writes the requested files. */
export async function runSimulate(paths: readonly string[], options: SimulateOptions): Promise<void> {
  checkAlone(options);
  checkOutputs({ '--report': options.report, '--perfetto': options.perfetto }, filesRead(paths, options));
  const measured = await readMeasured(options.calibrate, options);
  const logged = options.fromLog === undefined ? undefined : jobOfLog(options.fromLog, options.session);
  const asked = { ...shapeOf(logged, options), ...options };
  // What is wrong with the job is said before long traces are read.
  const first = jobOfOptions(asked, measured);
  const own = await ownSchedulers(options, first.job);
  const isQuiet = options.quiet === true || options.json === true;
  const traces = await readTraces(paths, readingOf(options), isQuiet);
  const cap = options.cap ?? cappedAt(traces);
  const isAsked = cap === undefined || cap === first.capTokens;
  const { job: asGiven, capTokens, calibration } = isAsked ? first : jobOfOptions({ ...asked, cap }, measured);
  const {
    judge = 'workers',
    resampling,
    correlation,
    fromLog,
    session,
    seeds,
    seed,
    epochs,
    ablation,
    oneStepOff,
  } = options;
  const shared = oneStepOff ? withOneStepOff(asGiven) : asGiven;
  const job = judge === 'workers' ? shared : withJudge(shared, judge, capTokens);
  const factors = {
    promptSpeculation: options.promptSpeculation ?? options.eta,
    responseSpeculation: options.responseSpeculation ?? options.eta,
  };
  const steps = options.steps ?? stepsOf(logged, job);
  checkSize(job, factors, { steps, seeds });
  const lengths = { resampling, correlation, fromLog, session };
  const { policies, set, predict, predictSigma } = options;
  const input: SimulateInput = {
    ...lengths,
    ...given({ policies, set, predict, predictSigma }),
    job,
    capTokens,
    traces,
    factors,
    steps,
    seeds,
    seed,
    epochs,
    ablation,
    oneStepOff,
    logged,
  };
  // The files are written even if the reader stops early (`| head`).
  if (options.report !== false || options.perfetto !== undefined) outlastReader();
  const said =
    calibration === undefined
      ? ''
      : calibratedText(calibration, options.calibrate!, saysCluster(options) ? 'model' : 'preset');
  const output = new SimulateOutput(options, said);
  const jsonOf = ({ comparisons, pools, vlm }: Simulated) => ({
    ...basisJson(basisOf(job)),
    comparisons: comparisons.map(plain.comparisons),
    ...(calibration === undefined ? {} : { calibration: calibratedJson(calibration, options.calibrate!) }),
    ...(options.pools ? { pools: pools.map(plain.pools) } : {}),
    ...(options.vlm ? { vlm: vlm.map(plain.vlm) } : {}),
  });
  const found = await simulateAll(input, { ...options, own }, output, ({ found: soFar, runs, of }) => {
    if (options.json) printJson({ partial: { runs, of }, ...jsonOf(soFar), report: null, perfetto: null });
  });
  const { comparisons, pools, vlm } = found;
  const perfetto = options.perfetto === undefined ? '' : JSON.stringify(perfettoTrace(comparisons));
  const writeReport = await preparedReport(options.report, { comparisons, vlm, pools });
  const writeFiles = (): string[] => {
    const written = [writeReport()];
    if (options.perfetto !== undefined) {
      writeWhole(options.perfetto, [perfetto]);
      written.push(`trace: ${oneLine(options.perfetto)} (open it in ui.perfetto.dev)`);
    }
    return written.filter((one) => one !== undefined);
  };
  if (options.json) {
    printJson({
      ...jsonOf(found),
      report: options.report === false ? null : options.report,
      perfetto: options.perfetto ?? null,
    });
    writeFiles();
    return;
  }
  output.end(writeFiles(), paths);
}

/** Refuses options that do not go together. */
function checkAlone(options: SimulateOptions): void {
  checkOwn(options);
  if (options.policies === undefined) return;
  const beside = options.ablation ? '--ablation' : options.oneStepOff ? '--one-step-off' : undefined;
  if (beside === undefined) return;
  const expected = `--policies without ${beside}: they are compared with the synchronous job and tail batching`;
  refuse('invalid_input', '--policies', expected, options.policies);
}

/** Returns the batch and the engines of a log. */
function shapeOf(
  logged: LoggedJob | undefined,
  { gpus }: JobOptions,
): Pick<JobOptions, 'promptsPerRound' | 'responsesPerPrompt' | 'engines'> {
  if (logged === undefined) return {};
  const { promptsPerRound, responsesPerPrompt } = logged.snapshot.config as BatchShape;
  const engines = enginesAt(logged, beforeRounds(logged)).length;
  // Whoever says the GPUs says the engines.
  return { promptsPerRound, responsesPerPrompt, ...(engines === 0 || gpus !== undefined ? {} : { engines }) };
}

/** Returns the steps that the prompts of a log are enough for, at most as many as are usual. */
function stepsOf(logged: LoggedJob | undefined, { promptsPerRound }: Job): number {
  const prompts = logged?.supplied.length ?? Number.POSITIVE_INFINITY;
  return Math.max(1, Math.min(usualRuns.steps, Math.floor(prompts / promptsPerRound)));
}

/** Larger jobs would not fit in memory, or would take days, and are refused. */
const mostInRound = 400_000;
const mostInAll = 20_000_000;

function checkSize(
  { promptsPerRound, responsesPerPrompt }: Job,
  { promptSpeculation, responseSpeculation }: { promptSpeculation: number; responseSpeculation: number },
  { steps, seeds }: { steps: number; seeds: number },
): void {
  const inRound = Math.ceil(promptsPerRound * promptSpeculation) * Math.ceil(responsesPerPrompt * responseSpeculation);
  if (inRound > mostInRound) refuse('limit_exceeded', 'responses of a round', `at most ${mostInRound}`, inRound);
  const inAll = steps * seeds * promptsPerRound * responsesPerPrompt;
  if (inAll > mostInAll) refuse('limit_exceeded', 'responses of all steps and seeds', `at most ${mostInAll}`, inAll);
}
