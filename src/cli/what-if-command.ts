/** `rollflex what-if`: from an event of a log on, what would have been with other settings, or with another policy. */
import { Command, Option } from 'commander';
import { oneOf } from '../core/nearest.ts';
import { oneLine } from '../core/printable.ts';
import { refuse } from '../errors.ts';
import { registry } from '../registry.ts';
import { losslessTailScheduler, synchronousBaseline, tailBatchingScheduler } from '../sim/colocated/scheduler.ts';
import { jobPresetIds } from '../sim/presets.ts';
import { type LoggedJob, loggedJob } from '../sim/what-if/logged-job.ts';
import { type RestOfJob, type WhatIf, type WhatIfOptions, whatIf } from '../sim/what-if/what-if.ts';
import { whole } from './arguments.ts';
import { calibrateOption, readMeasured } from './calibrate.ts';
import { type JobOptions, jobOfOptions } from './job.ts';
import { openLogs } from './log-files.ts';
import { print, printJson } from './output.ts';
import { placeBy } from './place.ts';
import { type Column, fixed, percent, plainTable, prose, seconds } from './plain-table.ts';
import { seedsFrom } from './simulation.ts';

/** Options as the command line gives them. */
export interface WhatIfCommandOptions extends JobOptions {
  readonly at?: string;
  readonly set: readonly (readonly [path: string, value: unknown])[];
  readonly policy?: keyof typeof policies;
  readonly session?: string;
  readonly seeds: number;
  readonly seed: number;
  readonly json?: boolean;
}

const policies = {
  synchronous: synchronousBaseline,
  'tail-batching': (shape: Parameters<typeof tailBatchingScheduler>[0]) => tailBatchingScheduler(shape),
  'lossless-tail': (shape: Parameters<typeof losslessTailScheduler>[0]) => losslessTailScheduler(shape),
};

/** Answers, and prints the answer. Throws as `whatIf` does; `unknown_id` for a session that the log does not have. */
export async function runWhatIf(paths: readonly string[], options: WhatIfCommandOptions): Promise<void> {
  const { name, logged } = jobIn(paths, options.session);
  const { policy } = logged.snapshot;
  const definition = registry.policies.find(({ id }) => id === policy);
  if (definition === undefined) {
    const ids = registry.policies.map(({ id }) => id);
    return refuse('unknown_id', `${name}: policy`, oneOf(ids, policy), policy);
  }
  const measured = await readMeasured(options.calibrate, {});
  const { job, capTokens } = jobOfOptions(options, measured);
  const settings = settingsOf(logged.snapshot.config, options.set);
  if (options.policy !== undefined && options.set.length > 0) {
    refuse('invalid_input', '--set', 'no settings beside --policy, which takes its own', options.set[0]![0]);
  }
  const asked: WhatIfOptions = {
    logged,
    definition,
    at: eventAt(logged, options.at),
    settings,
    ...(options.policy === undefined ? {} : { scheduler: policies[options.policy] }),
    job,
    fits: options.calibrate === undefined,
    capTokens,
    seeds: seedsFrom(options.seed, options.seeds),
  };
  const answer = whatIf(asked);
  if (options.json) return printJson({ file: name, settings, otherPolicy: options.policy ?? null, ...answer });
  report(name, answer, options, logged.snapshot.config);
}

/** Reads the only session of the logs, or the one that is named. */
function jobIn(paths: readonly string[], session: string | undefined): { name: string; logged: LoggedJob } {
  const [log, second] = openLogs(paths);
  if (second !== undefined) refuse('invalid_input', 'log', 'one log', second.name);
  const { isEventLog, name } = log!;
  if (session !== undefined && isEventLog) refuse('invalid_input', '--session', 'a decision log of a server', session);
  const ids = new Set<string>();
  for (const { line } of log!.lines()) if (line !== 'torn' && line.kind === 'session') ids.add(line.session);
  if (ids.size === 0) refuse('invalid_input', name, 'a log with a session in it', 'no line of one');
  if (session !== undefined && !ids.has(session)) refuse('unknown_id', '--session', oneOf([...ids], session), session);
  const [first, other] = session === undefined ? ids : [session];
  if (other !== undefined) refuse('invalid_input', '--session', `one of ${[...ids].slice(0, 20).join(', ')}`, 'none');
  return { name, logged: loggedJob(log!.lines(), first!) };
}

/** Returns the number of the event that `--at` means; the first one if it is absent. */
function eventAt({ events }: LoggedJob, text: string | undefined): number {
  if (text === undefined) return 0;
  const place = placeBy(text);
  if ('seq' in place) return place.seq;
  return events.findLast(({ event }) => event.at <= place.at)?.seq ?? 0;
}

/** Parses `path=value`; the value is JSON, or text. */
function setting(text: string, all: WhatIfCommandOptions['set'] = []): WhatIfCommandOptions['set'] {
  const [path, ...rest] = text.split('=');
  const value = rest.join('=');
  if (path === '' || rest.length === 0) refuse('invalid_input', '--set', 'a setting and its value, name=value', text);
  try {
    return [...all, [path!, JSON.parse(value)]];
  } catch {
    return [...all, [path!, value]];
  }
}

/** Returns the settings that are set, each whole: a field of one is set in what the log has of it. */
function settingsOf(config: unknown, set: WhatIfCommandOptions['set']): Record<string, unknown> {
  // Without a prototype, so that a setting named `__proto__` is one, and is refused.
  const settings: Record<string, unknown> = Object.create(null);
  for (const [path, value] of set) {
    const [name, field, ...more] = path.split('.');
    if (more.length > 0) refuse('invalid_input', '--set', 'a setting, or a field of one (retry.data)', path);
    const before = settings[name!] ?? (config as Record<string, unknown>)[name!];
    settings[name!] = field === undefined ? value : { ...(before as object), [field]: value };
  }
  return settings;
}

const mean = (all: readonly RestOfJob[], of: (one: RestOfJob) => number): number =>
  all.reduce((sum, one) => sum + of(one), 0) / all.length;

const stale: Column<{ readonly all: readonly RestOfJob[] }> = [
  'stale\ntokens',
  ({ all }) => percent(mean(all, (one) => one.staleShare)),
];

function report(name: string, answer: WhatIf, options: WhatIfCommandOptions, config: unknown): void {
  const { at, policy, log, asItWas, changed, saved, kept } = answer;
  const where =
    at.roundId === null ? 'from its beginning' : `from event ${at.seq} (round ${at.roundId}, ${seconds(at.seconds)} s)`;
  print(oneLine(`${name}, ${policy}: ${where} until as many prompts are trained as in the log`));
  for (const [path, value] of options.set) {
    const [first, field] = path.split('.');
    const before = (config as Record<string, unknown>)[first!];
    const old = field === undefined ? before : (before as Record<string, unknown> | undefined)?.[field];
    print(oneLine(`${path}: ${JSON.stringify(old) ?? 'not set'} -> ${JSON.stringify(value)}`));
  }
  if (options.policy !== undefined) print(`${options.policy} after the open round, with its own settings`);
  const isStale = [log, ...changed].some(({ maxLag }) => maxLag > 0);
  const rows = [
    { label: 'the log', all: [log] },
    { label: 'simulated as it was', all: asItWas },
    ...(asItWas === changed ? [] : [{ label: 'with the change', all: changed }]),
  ];
  print('');
  print(
    plainTable(
      [
        ['', ({ label }) => label],
        ['rest\ns', ({ all }) => seconds(mean(all, (one) => one.seconds))],
        [
          'rounds',
          ({ all }) =>
            fixed(
              mean(all, (one) => one.rounds),
              0,
            ),
        ],
        [
          'mean tokens\nof a response',
          ({ all }) =>
            fixed(
              mean(all, (one) => one.meanResponseTokens),
              0,
            ),
        ],
        [
          'prompts\ndeferred',
          ({ all }) =>
            fixed(
              mean(all, (one) => one.deferredPrompts),
              0,
            ),
        ],
        ...(isStale ? [stale] : []),
      ],
      rows,
    ),
  );
  print('');
  if (asItWas !== changed) {
    const range = ({ value, low, high }: WhatIf['saved']): string =>
      `${percent(value)} (${percent(low)} to ${percent(high)})`;
    print(
      prose(
        `Saves ${range(saved)} of the time, and keeps ${fixed(kept.value, 2)} (${fixed(kept.low, 2)} to ${fixed(kept.high, 2)}) of the tokens.`,
      ),
    );
  }
  for (const line of assumed(answer)) print(prose(`- ${line}`, '  '));
}

function assumed({ fit, lengths, engines }: WhatIf): string[] {
  const { known, censored, unknown } = lengths;
  return [
    `${known} responses are as long as in the log; ${censored} that were aborted there are drawn beyond their abort, and those that it does not have (${unknown} did not end in it) from all: the intervals are over these draws only.`,
    fit === null
      ? 'Engines and training are as fast as the preset, or the calibration, says: no round had ended before the event.'
      : `Engines are ${fixed(fit.factor, 2)} x as slow as the preset, and ${seconds(fit.betweenSeconds)} s pass between rounds, as in the ${fit.rounds === 1 ? 'round' : `${fit.rounds} rounds`} before the event.`,
    `${engines} engines, as at the event; prompts come in the order of the log; nothing fails. A request in flight had come as far as the share of its time says.`,
  ];
}

export function whatIfCommand(): Command {
  return new Command('what-if')
    .argument('<log...>', 'a log written by recordEvents, or the folder (or files) of serve --log-dir')
    .option(
      '--at <place>',
      'after this event (4711), or at this time (1795284199.9s, or a date); default: the beginning',
    )
    .option('--set <setting=value>', 'another value from there on; may be repeated', setting, [])
    .addOption(new Option('--policy <id>', 'another policy after the open round').choices(Object.keys(policies)))
    .option('--session <id>', 'of a decision log: this session')
    .addOption(new Option('--preset <id>', 'model and GPUs (qwen2.5-14b-16k)').choices(jobPresetIds))
    .addOption(calibrateOption())
    .option('--engines <n>', 'inference engines, where the log names none', whole(1, 4096))
    .option('--cap <tokens>', 'longest response (preset: 16384)', whole(1, 10_000_000))
    .option('--seeds <n>', 'runs, each with other draws of what the log does not know', whole(1, 1000), 10)
    .option('--seed <n>', 'first seed', whole(0, Number.MAX_SAFE_INTEGER), 1)
    .option('--json', 'print one JSON object')
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
