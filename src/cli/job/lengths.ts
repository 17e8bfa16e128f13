/** Chooses the lengths that a command simulates: traces, a log, or the bundled workloads. */
import { isPolicyError, refuse } from '../../errors.ts';
import { logPaths } from '../../logs/index/open.ts';
import { type LoggedJob, loggedJob } from '../../sim/what-if/logged-job.ts';
import { checkSimulated } from '../../sim/what-if/logged-scheduler.ts';
import { loggedWorkload } from '../../sim/what-if/workload.ts';
import { workloadFromLog } from '../../sim/workload/from-log.ts';
import { type LoggedLengths, lengthsFromDecisionLog, lengthsFromLog } from '../../sim/workload/log-lengths.ts';
import type { NamedTrace } from '../../sim/workload/of-trace.ts';
import { traceWorkload } from '../../sim/workload/of-trace.ts';
import type { Resampling } from '../../sim/workload/traced.ts';
import { inputFiles, readPaths } from '../files/input/paths.ts';
import { type AnyLog, inLog, openLog, openLogs } from '../files/logs.ts';
import { bundledTraces, readBundledTraces } from '../files/traces.ts';
import { filesOfCalibration } from './calibration/measured.ts';
import type { NamedWorkload } from './workloads.ts';

/** Options that say which lengths are simulated. */
export interface LengthOptions {
  readonly fromLog?: string;
  readonly session?: string;
  readonly resampling: Resampling;
  readonly correlation: number;
}

/**
 * Returns the workloads that the command line selects: traces, a log, or the bundled workloads.
 *
 * @param logged - the job of the log, if its prompts are to come in their order; absent, each seed has an order of its own
 */
export function workloads(
  traces: readonly NamedTrace[],
  options: LengthOptions,
  capTokens: number,
  logged?: LoggedJob,
): NamedWorkload[] {
  if (options.fromLog !== undefined) {
    if (traces.length > 0) {
      refuse('invalid_input', '--from-log', 'traces, or --from-log, not both', traces[0]!.name);
    }
    if (logged !== undefined) {
      const { fromLog: name, resampling } = options;
      return [(seed) => loggedWorkload(logged, { name, resampling, capTokens, seed })];
    }
    const lengths = loggedLengths(options.fromLog, options.session);
    const { fromLog: name, resampling } = options;
    return [(seed) => workloadFromLog(lengths, { name, resampling, capTokens, seed })];
  }
  if (options.session !== undefined) {
    refuse('invalid_input', '--session', '--from-log', options.session);
  }
  return (traces.length > 0 ? traces : readBundledTraces()).map((trace): NamedWorkload => {
    const { resampling, correlation } = options;
    return traceWorkload(trace, { resampling, correlation, capTokens });
  });
}

/** Returns the cap that the lengths of all traces pile up at; undefined if those of one do not. */
export function cappedAt(traces: readonly NamedTrace[]): number | undefined {
  const caps = traces.map(({ trace }) => (trace.kind === 'prompts' ? trace.pileUp?.tokens : undefined));
  const known = caps.filter((one) => one !== undefined);
  return known.length === 0 || known.length < caps.length ? undefined : Math.max(...known);
}

/** Returns the files that {@link workloads} and a calibration read. Throws as {@link inputFiles} does. */
export function filesRead(
  paths: readonly string[],
  { fromLog, calibrate }: { readonly fromLog?: string; readonly calibrate?: string },
): string[] {
  const traces = paths.length === 0 && fromLog === undefined ? bundledTraces() : readPaths(inputFiles(paths));
  return [
    ...traces,
    ...(fromLog === undefined ? [] : logPaths([fromLog]).map(({ path }) => path)),
    ...(calibrate === undefined ? [] : filesOfCalibration(calibrate)),
  ];
}

/**
 * Returns the job that has written a log, if `what-if` could go on from its first event: then its prompts come in their order. A log
 * of several sessions, of another policy, with a gap or without its beginning has lengths only.
 */
export function jobOfLog(path: string, session: string | undefined): LoggedJob | undefined {
  try {
    const log = openLogs([path])[0]!;
    const ids = sessionsOf(log);
    if (session === undefined ? ids.size > 1 : log.isEventLog) return undefined;
    const logged = loggedJob(log.lines(), session ?? [...ids][0] ?? '');
    checkSimulated(logged.snapshot.policy, logged.snapshot.config);
    // Openings before it may be the same job.
    if (logged.opening > 0) return undefined;
    return logged.supplied.some(({ samples }) => samples.size > 0) ? logged : undefined;
  } catch (error) {
    // Whoever reads the lengths says what is wrong with the log.
    if (isPolicyError(error)) return undefined;
    throw error;
  }
}

/** Returns the ids of the sessions of a log. */
export function sessionsOf(log: AnyLog): Set<string> {
  const ids = new Set<string>();
  for (const { line } of log.lines()) {
    if (line !== 'torn' && line.kind === 'session') ids.add(line.session);
    if (log.isEventLog) break;
  }
  return ids;
}

/** Reads lengths from an event log, or from a decision log. */
export function loggedLengths(path: string, session: string | undefined): LoggedLengths {
  const log = openLog([path]);
  if (log.kind === 'decisions') return lengthsFromDecisionLog(log.lines(), session);
  if (session === undefined) return inLog(path, () => lengthsFromLog(log.lines));
  refuse('invalid_input', '--session', 'a decision log of a server', path);
}
