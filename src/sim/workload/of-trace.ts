/** Makes a workload from a trace of any kind. */
import type { Trace } from '../trace/read.ts';
import { marginalWorkload, pooledQuantile } from './marginal.ts';
import { type Resampling, tracedWorkload } from './traced.ts';
import type { Workload } from './workload.ts';

/** How responses are sampled from a trace. */
export interface TraceWorkloadOptions {
  /** How responses beyond the recorded ones are made (default `copula`). */
  readonly resampling: Resampling;
  /** Correlation between the lengths of a prompt's responses, for traces that have only quantiles: 0 to 0.999 (default 0.3). */
  readonly correlation: number;
  /** Longest response, in tokens (default 16,384). */
  readonly capTokens: number;
}

/** The defaults of {@link TraceWorkloadOptions}. */
export const usualWorkload: TraceWorkloadOptions = { resampling: 'copula', correlation: 0.3, capTokens: 16_384 };

/** A trace with its name in results. */
export interface NamedTrace {
  /** Name in results. */
  readonly name: string;
  /** The trace itself. */
  readonly trace: Trace;
}

/** Returns the workload of a trace, for each seed. */
export function traceWorkload(
  { name, trace }: NamedTrace,
  options: Partial<TraceWorkloadOptions> = {},
): (seed: number) => Workload {
  const { resampling, correlation, capTokens } = { ...usualWorkload, ...options };
  if (trace.kind === 'prompts') {
    const { prompts, reader, pileUp } = trace;
    const traced = { name, source: `trace (${reader})`, prompts, resampling, capTokens };
    return (seed) => tracedWorkload({ ...traced, ...(pileUp === undefined ? {} : { pileUp }), seed });
  }
  const responseTokens = pooledQuantile(trace.rows, 'outputTokens');
  const promptTokens = pooledQuantile(trace.rows, 'inputTokens');
  const source = `quantiles (${trace.reader})`;
  return (seed) => marginalWorkload({ name, source, responseTokens, promptTokens, correlation, capTokens, seed });
}
