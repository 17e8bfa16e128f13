/** `rollflex simulate`: what would scheduling save on these response lengths? */
import { oneLine } from '../core/printable.ts';
import { PolicyError } from '../errors.ts';
import { comparing } from '../sim/compare.ts';
import { workloadFromLog } from '../sim/from-log.ts';
import type { Job } from '../sim/host/job.ts';
import { ladder } from '../sim/host/ladder.ts';
import { oneOffLadder, withOneOff } from '../sim/host/one-off.ts';
import { synchronousBaseline, tailBatchingScheduler } from '../sim/host/scheduler.ts';
import { withJudge } from '../sim/judge-preset.ts';
import { type LoggedLengths, lengthsFromDecisionLog, lengthsFromLog } from '../sim/log-lengths.ts';
import { perfettoTrace } from '../sim/perfetto.ts';
import { jobPreset } from '../sim/presets.ts';
import type { ComparisonResult } from '../sim/result.ts';
import type { Resampling } from '../sim/workload/traced.ts';
import { calibrated, calibrationFiles, calibrationJson, calibrationText } from './calibrate.ts';
import { bundledSandboxSeconds, bundledTraces } from './files.ts';
import { logPaths, openLog } from './log-files.ts';
import { print, printJson } from './output.ts';
import { runBundledPools, runBundledTail, withoutPoolTimelines } from './pools.ts';
import { printPoolsSummary, printTail } from './pools-table.ts';
import { Progress } from './progress.ts';
import { comparisonTable, earnings, meaning } from './table.ts';
import { runBundledVlm, withoutPictures } from './vlm.ts';
import { printVlm } from './vlm-table.ts';
import { type NamedWorkload, traceWorkload } from './workloads.ts';
import { checkOutputs, preparedReport, writeWhole } from './written-files.ts';

/** Options as the command line gives them. */
export interface SimulateOptions {
  readonly preset: string;
  readonly promptsPerRound?: number;
  readonly responsesPerPrompt?: number;
  readonly engines?: number;
  readonly calibrate?: string;
  readonly cap?: number;
  readonly eta: number;
  readonly promptSpeculation?: number;
  readonly responseSpeculation?: number;
  readonly steps: number;
  readonly seeds: number;
  readonly seed: number;
  readonly resampling: Resampling;
  readonly correlation: number;
  readonly fromLog?: string;
  readonly session?: string;
  readonly ladder?: boolean;
  readonly oneOff?: boolean;
  readonly judge?: 'workers' | 'dedicated' | 'colocated';
  readonly vlm?: boolean;
  readonly pools?: boolean;
  readonly report: string | false;
  readonly perfetto?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Runs the simulation, prints it, and writes what was asked for. */
export async function runSimulate(paths: readonly string[], options: SimulateOptions): Promise<void> {
  checkOutputs({ '--report': options.report, '--perfetto': options.perfetto }, inputFiles(paths, options));
  const preset = jobPreset(options.preset);
  const capTokens = options.cap ?? preset.capTokens;
  const asked: Job = {
    ...preset.job,
    promptsPerRound: options.promptsPerRound ?? preset.job.promptsPerRound,
    responsesPerPrompt: options.responsesPerPrompt ?? preset.job.responsesPerPrompt,
    engines: options.engines ?? preset.job.engines,
  };
  const calibration = options.calibrate === undefined ? undefined : calibrated(asked, options.calibrate);
  const given = calibration?.job ?? asked;
  const job = options.ladder ? withRewards(options.oneOff ? withOneOff(given) : given, options, capTokens) : given;
  const factors = {
    promptSpeculation: options.promptSpeculation ?? options.eta,
    responseSpeculation: options.responseSpeculation ?? options.eta,
  };
  checkSize(job, factors, options);
  if (!options.ladder) {
    for (const [path, got] of [['--judge', options.judge] as const, ['--one-off', options.oneOff] as const]) {
      if (got !== undefined) throw new PolicyError('invalid_input', { expected: `--ladder with ${path}`, got, path });
    }
  }
  const [baseline, ...rungs] = options.ladder
    ? (options.oneOff ? oneOffLadder : ladder)(job, factors)
    : [synchronousBaseline(job)];
  const schedulers = options.ladder ? rungs : [tailBatchingScheduler(job, factors)];
  const seeds = Array.from({ length: options.seeds }, (_, index) => options.seed + index);
  const comparisons: ComparisonResult[] = [];
  for (const workload of workloads(paths, options, capTokens)) {
    comparisons.push(
      await runOne({ job, workload, steps: options.steps, seeds, baseline: baseline!, schedulers }, options),
    );
  }
  const pools = options.pools ? runBundledPools(options.seed) : [];
  const vlm = options.vlm ? runBundledVlm(options.seed) : [];
  const perfetto = options.perfetto === undefined ? '' : JSON.stringify(perfettoTrace(comparisons));
  const writeReport = await preparedReport(options.report, comparisons, vlm, pools);
  const writeFiles = (): string[] => {
    const said = [writeReport()];
    if (options.perfetto !== undefined) {
      writeWhole(options.perfetto, [perfetto]);
      said.push(`trace: ${oneLine(options.perfetto)} (open it in ui.perfetto.dev)`);
    }
    return said.filter((one) => one !== undefined);
  };
  if (options.json) {
    printJson({
      comparisons: comparisons.map(withoutTimelines),
      ...(calibration === undefined ? {} : { calibration: calibrationJson(calibration, options.calibrate!) }),
      ...(options.pools ? { pools: pools.map(withoutPoolTimelines) } : {}),
      ...(options.vlm ? { vlm: vlm.map(withoutPictures) } : {}),
      report: options.report === false ? null : options.report,
      perfetto: options.perfetto ?? null,
    });
    writeFiles();
    return;
  }
  if (calibration !== undefined) print(`${calibrationText(calibration, options.calibrate!)}\n`);
  // What a log has is what happened; everything that is shown here is what would have, in the simulator.
  if (options.fromLog !== undefined) print(`${oneLine(comparisons[0]!.workload.source)}\n`);
  for (const comparison of comparisons) {
    print(comparisonTable(comparison));
    if (options.ladder) print(`${earnings(comparison)}\n`);
    if (!options.quiet) print(meaning(comparison));
    print('');
  }
  printPoolsSummary(pools, options);
  if (options.pools && !options.quiet) printTail(runBundledTail(options.seed));
  printVlm(vlm, options);
  const said = writeFiles();
  if (!options.quiet) for (const line of said) print(line);
}

/** Rewards as the ladder has them: of code as measured, of a judge as asked for. */
function withRewards(given: Job, { judge }: SimulateOptions, capTokens: number): Job {
  const job = withRealCode(given);
  return judge === undefined || judge === 'workers' ? job : withJudge(job, judge, capTokens);
}

/** Code in sandboxes takes the seconds that were measured. */
export const withRealCode = (job: Job): Job =>
  job.rewards === undefined ? job : { ...job, rewards: { ...job.rewards, sandboxSeconds: bundledSandboxSeconds() } };

/** What would not fit in memory, or take days, is refused at once. */
const mostInRound = 400_000;
const mostInAll = 20_000_000;

function checkSize(
  { promptsPerRound, responsesPerPrompt }: Job,
  { promptSpeculation, responseSpeculation }: { promptSpeculation: number; responseSpeculation: number },
  { steps, seeds }: SimulateOptions,
): void {
  const refuse = (path: string, expected: string, got: number): never => {
    throw new PolicyError('limit_exceeded', { path, expected, got });
  };
  const inRound = Math.ceil(promptsPerRound * promptSpeculation) * Math.ceil(responsesPerPrompt * responseSpeculation);
  if (inRound > mostInRound) refuse('responses of a round', `at most ${mostInRound}`, inRound);
  const inAll = steps * seeds * promptsPerRound * responsesPerPrompt;
  if (inAll > mostInAll) refuse('responses of all steps and seeds', `at most ${mostInAll}`, inAll);
}

/** Options that say which lengths are simulated. */
export type LengthOptions = Pick<SimulateOptions, 'fromLog' | 'session' | 'resampling' | 'correlation'>;

/** The workloads that the command line names: traces, a log, or what comes with the package. */
export function workloads(paths: readonly string[], options: LengthOptions, capTokens: number): NamedWorkload[] {
  if (options.fromLog !== undefined) {
    if (paths.length > 0) {
      throw new PolicyError('invalid_input', {
        expected: 'traces, or --from-log, not both',
        got: paths[0],
        path: '--from-log',
      });
    }
    const lengths = loggedLengths(options.fromLog, options.session);
    const { fromLog: name, resampling } = options;
    return [(seed) => workloadFromLog(lengths, { name, resampling, capTokens, seed })];
  }
  if (options.session !== undefined) {
    throw new PolicyError('invalid_input', { expected: '--from-log', got: options.session, path: '--session' });
  }
  return (paths.length > 0 ? paths : bundledTraces()).map((path): NamedWorkload => {
    const { resampling, correlation } = options;
    return traceWorkload(path, { resampling, correlation, capTokens });
  });
}

/** The files of {@link workloads}, and of a calibration. What is not there is left to whoever reads it. */
export function inputFiles(
  paths: readonly string[],
  { fromLog, calibrate }: { readonly fromLog?: string; readonly calibrate?: string },
): string[] {
  const traces = paths.length === 0 && fromLog === undefined ? bundledTraces() : paths;
  return [
    ...traces,
    ...(fromLog === undefined ? [] : logPaths([fromLog]).map(({ path }) => path)),
    ...(calibrate === undefined ? [] : calibrationFiles(calibrate)),
  ];
}

/** Lengths from an event log, or from a decision log. */
export function loggedLengths(path: string, session: string | undefined): LoggedLengths {
  const log = openLog([path]);
  if (log.kind === 'decisions') return lengthsFromDecisionLog(log.lines(), session);
  if (session === undefined) return lengthsFromLog(log.lines);
  throw new PolicyError('invalid_input', { expected: 'a decision log of a server', got: path, path: '--session' });
}

/** One workload, run by run, so that progress can be shown between them. */
async function runOne(
  given: Parameters<typeof comparing>[0],
  { quiet, json }: SimulateOptions,
): Promise<ComparisonResult> {
  const progress = new Progress({ text: 'simulating', isQuiet: quiet === true || json === true });
  try {
    const runs = comparing(given);
    let next = await progress.step(() => runs.next());
    while (next.done !== true) {
      const { doneRuns, totalRuns, scheduler } = next.value;
      progress.text = `simulating: ${doneRuns} of ${totalRuns} runs, ${scheduler}`;
      next = await progress.step(() => runs.next());
    }
    return next.value;
  } finally {
    progress.stop();
  }
}

/** Timelines are for pictures; as JSON they would be most of the output. */
function withoutTimelines(comparison: ComparisonResult): unknown {
  const schedulers = comparison.schedulers.map((one) => ({
    ...one,
    runs: one.runs.map((run) => ({ ...run, engines: run.engines.map(({ timeline: _, ...engine }) => engine) })),
  }));
  return { ...comparison, schedulers };
}
