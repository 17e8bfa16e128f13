/** Help with typing errors, for all commands: it suggests the nearest correct word, and shows options as the user typed them. */
import { type Command, InvalidArgumentError } from 'commander';
import { nearest, oneOf } from '../../core/ids/nearest.ts';
import { isPolicyError, refuse, relocated } from '../../errors.ts';
import { openInBrowser } from './browser.ts';
import { commanderOutput } from './output.ts';

/** Settings of the library whose command-line options have another name. */
const otherNames: Readonly<Record<string, string>> = {
  batchSequences: 'batch',
  globalBatchSamples: 'batch',
  groupsPerRound: 'groups',
  capTokens: 'cap',
  maxResponseTokens: 'cap',
  tensorParallel: 'tp',
  maxFrames: 'frames',
  controllerMemoryGb: 'controllerMemory',
  nodeMemoryGb: 'nodeMemory',
  'verifier.medianSeconds': 'verifierSeconds',
  'cost.trainSecondsPerToken': 'trainSecondsPerToken',
  maxRunningRequests: 'maxRunning',
  contextTokens: 'context',
};

/** Returns the option that a word is the singular of. */
const pluralOf = (got: string | undefined, options: readonly string[]): string | undefined =>
  options.find((one) => got !== undefined && [`${got}s`, got.replace(/y$/, 'ies')].includes(one) && one !== got);

/** Adds suggestions to the errors of the parser: the option or the command that the user probably meant. */
function suggesting(command: Command): void {
  const words = {
    option: command.options.flatMap(({ long }) => long ?? []),
    command: command.commands.map((one) => one.name()),
  };
  const outputError = (text: string, write: (text: string) => void): void => {
    const [, kind, got] = /unknown (option|command) '([^'=]*)/.exec(text) ?? [];
    const meant =
      kind === undefined ? undefined : (pluralOf(got, words.option) ?? nearest(got, words[kind as keyof typeof words]));
    write(meant === undefined ? text : `${text.trimEnd()}\n(Did you mean ${meant}?)\n`);
  };
  command.showSuggestionAfterError(false).configureOutput({ ...commanderOutput, outputError });
}

/** Makes a command tolerant of typing errors. Call it after all options of the command are defined. */
export function explainTypingErrors(command: Command): void {
  suggesting(command);
  for (const option of command.options) {
    const { argChoices } = option;
    if (argChoices === undefined) continue;
    option.argParser((text: string) => {
      if (argChoices.includes(text)) return text;
      throw new InvalidArgumentError(`Expected ${oneOf(argChoices, text)}.`);
    });
  }
  if (!command.options.some(({ long }) => long === '--report')) return;
  command.option('--open', 'open the report in the browser');
  command.hook('preAction', () => {
    const { open, report } = command.opts();
    if (open !== true || report !== false) return;
    refuse('invalid_input', '--open', 'a report to open', '--no-report');
  });
  command.hook('postAction', async () => {
    const { open, report } = command.opts();
    if (open === true) await openInBrowser(report);
  });
}

/** Returns the error with the name of the option instead of the name of the setting, if an option has set it. */
export function asTyped(error: unknown, command: Command): unknown {
  if (!isPolicyError(error)) return error;
  const setting = Object.keys(otherNames).find((name) => error.path === name || error.path.startsWith(`${name}.`));
  const [head = ''] = setting === undefined ? (/^\w*/.exec(error.path) ?? []) : [setting];
  const rest = error.path.slice(head.length);
  const name = setting === undefined ? head : otherNames[setting];
  const flagOf = (attribute: string | undefined): string | undefined =>
    command.options.find((one) => one.attributeName() === attribute)?.long ?? undefined;
  const flag = flagOf(name);
  // A longer path, such as `steps.jsonl:2`, names a place in a file.
  if (flag === undefined || !/^(\[\d+\][\w.]*)?$/.test(rest)) return error;
  const expected = error.expected.replace(/\b[a-z]+[A-Z]\w*/g, (word) => flagOf(otherNames[word] ?? word) ?? word);
  return relocated(error, `${flag}${rest}`, expected);
}
