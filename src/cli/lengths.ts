/** Chooses the lengths that a command simulates: traces, a log, or the bundled workloads. */
import { refuse } from '../errors.ts';
import { workloadFromLog } from '../sim/from-log.ts';
import { type LoggedLengths, lengthsFromDecisionLog, lengthsFromLog } from '../sim/log-lengths.ts';
import type { Resampling } from '../sim/workload/traced.ts';
import { calibrationFiles } from './calibrate.ts';
import { bundledTraces, type NamedTrace, readBundledTraces } from './files.ts';
import { inputFiles, readPaths } from './input/paths.ts';
import { inLog, logPaths, openLog } from './log-files.ts';
import { type NamedWorkload, traceWorkload } from './workloads.ts';

/** Options that say which lengths are simulated. */
export interface LengthOptions {
  readonly fromLog?: string;
  readonly session?: string;
  readonly resampling: Resampling;
  readonly correlation: number;
}

/** Returns the workloads that the command line selects: traces, a log, or the bundled workloads. */
export function workloads(traces: readonly NamedTrace[], options: LengthOptions, capTokens: number): NamedWorkload[] {
  if (options.fromLog !== undefined) {
    if (traces.length > 0) {
      refuse('invalid_input', '--from-log', 'traces, or --from-log, not both', traces[0]!.name);
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

/** Returns the files that {@link workloads} and a calibration read. Throws as {@link inputFiles} does. */
export function filesRead(
  paths: readonly string[],
  { fromLog, calibrate }: { readonly fromLog?: string; readonly calibrate?: string },
): string[] {
  const traces = paths.length === 0 && fromLog === undefined ? bundledTraces() : readPaths(inputFiles(paths));
  return [
    ...traces,
    ...(fromLog === undefined ? [] : logPaths([fromLog]).map(({ path }) => path)),
    ...(calibrate === undefined ? [] : calibrationFiles(calibrate)),
  ];
}

/** Reads lengths from an event log, or from a decision log. */
export function loggedLengths(path: string, session: string | undefined): LoggedLengths {
  const log = openLog([path]);
  if (log.kind === 'decisions') return lengthsFromDecisionLog(log.lines(), session);
  if (session === undefined) return inLog(path, () => lengthsFromLog(log.lines));
  refuse('invalid_input', '--session', 'a decision log of a server', path);
}
