/** Options of commands that make a workload from traces. */
import { type Command, Option } from 'commander';
import { usualWorkload } from '../../sim/workload/of-trace.ts';
import { resamplingMethods } from '../../sim/workload/traced.ts';
import type { Workload } from '../../sim/workload/workload.ts';
import { between } from '../terminal/arguments.ts';

/** A workload for each seed. */
export type NamedWorkload = (seed: number) => Workload;

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

/** Returns the command-line options for dumps whose fields or steps can be read in several ways. */
export const dumpOptions = (): Option[] => [
  new Option(
    '--field <role=path>',
    'which field is what, such as tokens=usage.completion_tokens (several times)',
  ).argParser((one: string, all: readonly string[] | undefined) => [...(all ?? []), one]),
  new Option('--repeated <which>', 'which record of a step that the dump has twice is kept; all: parts of one').choices(
    ['first', 'last', 'all'],
  ),
];

/** Adds options to a command. */
export const withOptions = (command: Command, options: readonly Option[]): Command =>
  options.reduce((so, option) => so.addOption(option), command);

/** Returns the command-line option for traces of quantiles. */
export const correlationOption = (): Option =>
  new Option('--correlation <rho>', 'within-prompt correlation, where a trace has only quantiles')
    .argParser(between(0, 0.999))
    .default(usualWorkload.correlation);
