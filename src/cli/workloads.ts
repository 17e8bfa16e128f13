/** Makes a workload from a trace of any kind. */
import { type Command, Option } from 'commander';
import { marginalWorkload, pooledQuantile } from '../sim/workload/marginal.ts';
import { type Resampling, resamplingMethods, tracedWorkload } from '../sim/workload/traced.ts';
import type { Workload } from '../sim/workload/workload.ts';
import { between } from './arguments.ts';
import type { NamedTrace } from './files.ts';

/** A workload for each seed. */
export type NamedWorkload = (seed: number) => Workload;

/** Options that decide how responses are sampled from a trace. */
export interface TraceWorkloadOptions {
  readonly resampling: Resampling;
  /** Correlation for traces that have only quantiles. */
  readonly correlation: number;
  readonly capTokens: number;
}

/** Default options of the command line for sampling responses from a trace. */
export const usualWorkload: TraceWorkloadOptions = { resampling: 'copula', correlation: 0.3, capTokens: 16_384 };

/** Returns the command-line option for the method that makes responses which are not in a trace. */
export const resamplingOption = (): Option =>
  new Option('--resampling <method>', 'how responses that were never recorded are made')
    .choices(resamplingMethods)
    .default(usualWorkload.resampling);

/** Returns the command-line options for dumps that contain texts without token counts. */
export const textOptions = (): Option[] => [
  new Option('--tokenizer <file>', 'count the tokens of texts by this tokenizer.json (or the folder with it)'),
  new Option('--tokens-per-character <n>', 'estimate the tokens of texts instead').argParser(between(0.001, 10)),
];

/** Adds options to a command. */
export const withOptions = (command: Command, options: readonly Option[]): Command =>
  options.reduce((so, option) => so.addOption(option), command);

/** Returns the command-line option for traces of quantiles. */
export const correlationOption = (): Option =>
  new Option('--correlation <rho>', 'within-prompt correlation, where a trace has only quantiles')
    .argParser(between(0, 0.999))
    .default(usualWorkload.correlation);

/** Returns the workload of a trace. */
export function traceWorkload(
  { name, trace }: NamedTrace,
  { resampling, correlation, capTokens }: TraceWorkloadOptions,
): NamedWorkload {
  if (trace.kind === 'prompts') {
    const { prompts, reader } = trace;
    return (seed) => tracedWorkload({ name, source: `trace (${reader})`, prompts, resampling, capTokens, seed });
  }
  const responseTokens = pooledQuantile(trace.rows, 'outputTokens');
  const promptTokens = pooledQuantile(trace.rows, 'inputTokens');
  const source = `quantiles (${trace.reader})`;
  return (seed) => marginalWorkload({ name, source, responseTokens, promptTokens, correlation, capTokens, seed });
}
