/** `rollflex what-if`: from an event of a log on, what would have been with other settings, or with another policy. */
import { Command } from 'commander';
import { given } from '../../core/collections/given.ts';
import { oneLine } from '../../core/ids/printable.ts';
import { otherPolicies } from '../../sim/what-if/ask.ts';
import { basisJson, basisText } from '../job/basis.ts';
import { modelOptions } from '../job/cluster.ts';
import { predictOptions, setting } from '../job/own.ts';
import { withOptions } from '../job/workloads.ts';
import { option } from '../terminal/options.ts';
import { print, printJson } from '../terminal/output.ts';
import { plainTable, prose } from '../terminal/plain-table.ts';
import { isSilent, Progress } from '../terminal/progress.ts';
import { answered, type WhatIfAnswer, type WhatIfQuestion } from './question.ts';
import { tableOf } from './text.ts';

/** Options as the command line gives them. */
export interface WhatIfCommandOptions extends WhatIfQuestion {
  readonly json?: boolean;
}

/** Answers, and prints the answer. Throws as `answered` does. */
export async function runWhatIf(paths: readonly string[], options: WhatIfCommandOptions): Promise<void> {
  let soFar: (() => WhatIfAnswer) | undefined;
  const stopped = (): string => {
    if (soFar === undefined) return 'stopped before the first result';
    const found = soFar();
    const partial = { seeds: found.answer.changed.length, of: options.seeds };
    printAnswer(found, options, partial);
    return `stopped after ${partial.seeds} of ${partial.of} seeds: the result is partial`;
  };
  const progress = new Progress({ text: 'simulating what would have been', isQuiet: isSilent(options), stopped });
  const found = await answered(paths, options, progress, (one) => {
    soFar = one;
  }).finally(() => progress.stop());
  printAnswer(found, options);
}

/** @param partial - the seeds that were simulated before it was stopped */
function printAnswer(
  found: WhatIfAnswer,
  options: WhatIfCommandOptions,
  partial?: { readonly seeds: number; readonly of: number },
): void {
  const { name, otherPolicy, settings, answer } = found;
  if (options.json)
    return printJson({
      ...given({ partial }),
      ...basisJson(answer),
      ...{ file: name, settings, otherPolicy },
      ...answer,
    });
  if (partial !== undefined) print(`Partial, since it was stopped: ${partial.seeds} of ${partial.of} seeds.`);
  const { about, columns, rows, worth, assumed } = tableOf(found, options);
  print(`${basisText(found.basis)}\n`);
  for (const line of about) print(oneLine(line));
  print(`\n${plainTable(columns, rows)}\n`);
  if (worth !== undefined) print(prose(worth));
  for (const line of assumed) print(prose(`- ${line}`, '  '));
}

export function whatIfCommand(): Command {
  const asked = new Command('what-if')
    .argument('<log...>', 'a log written by recordEvents, or the folder (or files) of serve --log-dir')
    .option(
      '--at <place>',
      'after this event (4711), or at this time (1795284199.9s, or a date); default: the beginning',
    )
    .option('--set <setting=value>', 'another value from there on; may be repeated', setting, [])
    .option(
      '--policy <id>',
      `another policy after the open round: ${Object.keys(otherPolicies).join(', ')}, or your own`,
    )
    .addOption(option('policies', 'a module (.js, .ts) with policies of your own, one of which takes over'))
    .addOption(option('session', 'of a decision log: this session'));
  return withOptions(asked, [...predictOptions(), ...modelOptions()])
    .addOption(option('engines', 'inference engines, where the log names none'))
    .addOption(option('cap', 'longest response (16384, or of the preset)'))
    .addOption(option('seeds', 'runs, each with other draws of what the log does not know', { usual: 10 }))
    .addOption(option('seed', undefined, { usual: 1 }))
    .addOption(option('json'))
    .addHelpText(
      'after',
      `
Up to the event all is as in the log. From there on the job is simulated twice, as it was and with the
change, until as many prompts are trained as in the log. The log beside the first shows how far the
simulation can be believed. Logs of tail-batching and lossless-tail, from the beginning of the session.

Examples
  rollflex what-if run.jsonl --at 4711 --set promptSpeculation=1.5
  rollflex what-if ~/rollflex-log --session s1 --at 4711 --policy synchronous`,
    )
    .action(runWhatIf);
}
