/** From a trace file to a workload, whichever kind of trace it is. */
import { marginalWorkload, pooledQuantile } from '../sim/workload/marginal.ts';
import { type Resampling, tracedWorkload } from '../sim/workload/traced.ts';
import type { Workload } from '../sim/workload/workload.ts';
import { readTraceFile } from './files.ts';

/** A workload for each seed. */
export type NamedWorkload = (seed: number) => Workload;

/** How responses are made of a trace. */
export interface TraceWorkloadOptions {
  readonly resampling: Resampling;
  /** Where a trace has only quantiles. */
  readonly correlation: number;
  readonly capTokens: number;
}

/** The workload of a trace file. Throws `PolicyError` `invalid_input` with file and line, or the system's error. */
export function traceWorkload(
  path: string,
  { resampling, correlation, capTokens }: TraceWorkloadOptions,
): NamedWorkload {
  const { name, trace } = readTraceFile(path);
  if (trace.kind === 'prompts') {
    const { prompts, reader } = trace;
    return (seed) => tracedWorkload({ name, source: `trace (${reader})`, prompts, resampling, capTokens, seed });
  }
  const responseTokens = pooledQuantile(trace.rows, 'outputTokens');
  const promptTokens = pooledQuantile(trace.rows, 'inputTokens');
  const source = `quantiles (${trace.reader})`;
  return (seed) => marginalWorkload({ name, source, responseTokens, promptTokens, correlation, capTokens, seed });
}
