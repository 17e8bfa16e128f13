/** A question about a log, as the command line and the page of `debug` ask it, and its answer. */
import { oneOf } from '../../core/nearest.ts';
import { refuse } from '../../errors.ts';
import { registry } from '../../registry.ts';
import { losslessTailScheduler, synchronousBaseline, tailBatchingScheduler } from '../../sim/colocated/scheduler.ts';
import { type LoggedJob, loggedJob } from '../../sim/what-if/logged-job.ts';
import { type WhatIf, whatIf } from '../../sim/what-if/what-if.ts';
import { readMeasured } from '../calibrate.ts';
import { type JobOptions, jobOfOptions } from '../job.ts';
import { sessionsOf } from '../lengths.ts';
import { openLogs } from '../log-files.ts';
import { placeBy } from '../place.ts';
import { seedsFrom } from '../simulation.ts';

/** What is asked. */
export interface WhatIfQuestion extends JobOptions {
  readonly at?: string;
  /** Settings, or fields of one (`retry.data`), each with its value. */
  readonly set: readonly (readonly [path: string, value: unknown])[];
  readonly policy?: OtherPolicy;
  readonly session?: string;
  readonly seeds: number;
  readonly seed: number;
}

/** An answer, and the settings that it is about. */
export interface WhatIfAnswer {
  readonly name: string;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Those of the log. */
  readonly config: unknown;
  readonly answer: WhatIf;
}

/** Policies that can take over. */
export const otherPolicies = {
  synchronous: synchronousBaseline,
  'tail-batching': (shape: Parameters<typeof tailBatchingScheduler>[0]) => tailBatchingScheduler(shape),
  'lossless-tail': (shape: Parameters<typeof losslessTailScheduler>[0]) => losslessTailScheduler(shape),
};

/** Id of a policy that can take over. */
export type OtherPolicy = keyof typeof otherPolicies;

/** Answers. Throws as `whatIf` does; `unknown_id` for a session that the log does not have. */
export async function answered(paths: readonly string[], options: WhatIfQuestion): Promise<WhatIfAnswer> {
  const { name, logged } = jobIn(paths, options.session);
  const { config, policy } = logged.snapshot;
  const definition = registry.policies.find(({ id }) => id === policy);
  if (definition === undefined) {
    const ids = registry.policies.map(({ id }) => id);
    return refuse('unknown_id', `${name}: policy`, oneOf(ids, policy), policy);
  }
  const settings = settingsOf(config, options.set);
  if (options.policy !== undefined && options.set.length > 0) {
    refuse('invalid_input', '--set', 'no settings beside --policy, which takes its own', options.set[0]![0]);
  }
  const { job, capTokens } = jobOfOptions(options, await readMeasured(options.calibrate, {}));
  const answer = whatIf({
    logged,
    definition,
    at: eventAt(logged, options.at),
    settings,
    ...(options.policy === undefined ? {} : { scheduler: otherPolicies[options.policy] }),
    job,
    fits: options.calibrate === undefined,
    capTokens,
    seeds: seedsFrom(options.seed, options.seeds),
  });
  return { name, settings, config, answer };
}

/** Reads the only session of the logs, or the one that is named. */
function jobIn(paths: readonly string[], session: string | undefined): { name: string; logged: LoggedJob } {
  const [log, second] = openLogs(paths);
  if (second !== undefined) refuse('invalid_input', 'log', 'one log', second.name);
  const { isEventLog, name } = log!;
  if (session !== undefined && isEventLog) refuse('invalid_input', '--session', 'a decision log of a server', session);
  const ids = sessionsOf(log!);
  if (ids.size === 0) refuse('invalid_input', name, 'a log with a session in it', 'no line of one');
  const [first, other] = session === undefined ? ids : [session];
  if (other !== undefined) refuse('invalid_input', '--session', `one of ${[...ids].slice(0, 20).join(', ')}`, 'none');
  // Of several with one id, those before the last are named by the number of their opening, as debug names them.
  const [, id, number] = ids.has(first!) ? [] : (/^(.+?)@+([1-9]\d*)$/s.exec(first!) ?? []);
  if (!ids.has(id ?? first!)) refuse('unknown_id', '--session', oneOf([...ids], first!), first!);
  return { name, logged: loggedJob(log!.lines(), id ?? first!, number === undefined ? undefined : Number(number) - 1) };
}

/** Returns the number of the event that `--at` means; the first one if it is absent. */
function eventAt({ events }: LoggedJob, text: string | undefined): number {
  if (text === undefined) return 0;
  const place = placeBy(text);
  if ('seq' in place) return place.seq;
  return events.findLast(({ event }) => event.at <= place.at)?.seq ?? 0;
}

/** Returns the settings that are set, each whole: a field of one is set in what the log has of it. */
function settingsOf(config: unknown, set: WhatIfQuestion['set']): Record<string, unknown> {
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
