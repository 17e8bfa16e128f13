/** Makes a workload from a trace of any kind. */
import type { TracePrompt } from '../trace/format.ts';
import type { Trace } from '../trace/read.ts';
import { traceFromLog } from './from-log.ts';
import { marginalWorkload, pooledQuantile } from './marginal.ts';
import { type Resampling, tracedWorkload, tracedWorkloads } from './traced.ts';
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
    const censored = prompts.reduce((sum, one) => sum + one.responses.filter((each) => each.censored).length, 0);
    const drawn = censored === 0 ? '' : `, ${censored} aborted and drawn beyond their abort`;
    const source = `trace (${reader})${drawn}`;
    const traced = { name, source, resampling, capTokens, ...(pileUp === undefined ? {} : { pileUp }) };
    if (censored === 0) return tracedWorkloads({ ...traced, prompts });
    return (seed) => tracedWorkload({ ...traced, prompts: completed(prompts, capTokens, seed), seed });
  }
  const responseTokens = pooledQuantile(trace.rows, 'outputTokens');
  const promptTokens = pooledQuantile(trace.rows, 'inputTokens');
  const source = `quantiles (${trace.reader})`;
  return (seed) => marginalWorkload({ name, source, responseTokens, promptTokens, correlation, capTokens, seed });
}

/** Returns the prompts with the rest of each aborted response drawn, as for a log. */
function completed(prompts: readonly TracePrompt[], capTokens: number, seed: number): TracePrompt[] {
  const logged = prompts.map(({ prompt, responses }) => ({
    promptId: prompt,
    responses: responses.map(({ tokens, censored = false }) => ({ tokens, censored })),
  }));
  const counts = { completed: 0, censored: 0, unknown: 0 };
  const drawn = traceFromLog({ prompts: logged, ...counts }, { capTokens, seed });
  return prompts.map((prompt, row) => ({
    ...prompt,
    responses: prompt.responses.map((response, at) =>
      response.censored === true ? { tokens: drawn[row]!.responses[at]!.tokens } : response,
    ),
  }));
}
