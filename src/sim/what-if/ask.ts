/** Asks a log what would have happened with other settings or another policy. */
import { given } from '../../core/collections/given.ts';
import { oneOf } from '../../core/ids/nearest.ts';
import { refuse } from '../../errors.ts';
import type { ReadLine } from '../../logs/format/decision-log.ts';
import type { Place } from '../../logs/format/log.ts';
import { registry } from '../../registry.ts';
import type { Job } from '../colocated/job.ts';
import {
  type BatchShape,
  losslessTailScheduler,
  type Scheduler,
  synchronousBaseline,
  tailBatchingScheduler,
} from '../colocated/scheduler.ts';
import { presetWithBasis } from '../models/preset-basis.ts';
import type { PredictionOptions } from '../workload/predicted.ts';
import { type LoggedJob, loggedJob } from './logged-job.ts';
import { checkSimulated } from './logged-scheduler.ts';
import { type WhatIf, whatIfOf } from './what-if.ts';

/** Policies that can take over, by their ids. */
export const otherPolicies = {
  synchronous: synchronousBaseline,
  'tail-batching': (shape: BatchShape) => tailBatchingScheduler(shape),
  'lossless-tail': (shape: BatchShape) => losslessTailScheduler(shape),
} as const satisfies Record<OtherPolicy, (shape: BatchShape) => Scheduler>;

/** Id of a policy that can take over. */
export type OtherPolicy = 'synchronous' | 'tail-batching' | 'lossless-tail';

/** The change to simulate. Without settings and policy, the answer shows how accurate the simulation is. */
export interface Change {
  /** Settings that change from there on; a name with a dot (`retry.data`) is a field of a setting. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The policy that takes over after the open round, with its own settings. */
  readonly policy?: OtherPolicy;
  /** A policy of your own that takes over in the same way, for the shape of the batch: see `policyScheduler`. */
  readonly scheduler?: (shape: BatchShape) => Scheduler;
  /** Predicted lengths that prompts come with for the policy that takes over; none if absent. */
  readonly predict?: Omit<PredictionOptions, 'responsesPerPrompt' | 'seed'>;
  /** The event or time after which the change applies; the beginning if absent. */
  readonly at?: Place;
  /** The session of a log that has several. */
  readonly session?: string;
  /** Costs of engines and training (default: the job of the preset `qwen2.5-14b-16k`, fitted to the rounds before the event). */
  readonly job?: Job;
  /** Whether the speed of engines and training is fitted to the rounds before the event (default: if no job is given). */
  readonly fits?: boolean;
  /** Longest response, in tokens (default: that of the job, or of the preset). */
  readonly capTokens?: number;
  /** Seeds for what the log does not know (default: 1 to 10). */
  readonly seeds?: readonly number[];
  /** Receives the share of the simulations that are done, 0 to 1, after each of them. */
  readonly onProgress?: (share: number) => void;
  /** Receives, after each seed, what gives the answer by the seeds so far. */
  readonly onSeed?: (soFar: () => WhatIf) => void;
}

const usualSeeds = Array.from({ length: 10 }, (_, index) => 1 + index);

/**
 * Says what would have happened after an event of a log with other settings or another policy: the rest is simulated once
 * unchanged and once with the change, and compared with the log.
 *
 * @param log - a log of `openLog` or `readLog` (`rollflex/logs`), of `tail-batching` or `lossless-tail`
 * @throws PolicyError `infeasible` for a policy, or a log, that cannot be simulated from the middle on; `invalid_input` for an
 * event that the log lacks, or a log of several sessions without `session`; `unknown_id` for a session that the log lacks;
 * `invalid_config` for settings that do not fit, or that define the shape of the job
 */
export function whatIf(log: { lines(): Iterable<ReadLine> }, change: Change = {}): WhatIf {
  return whatIfIn(jobOf(log, change.session), change);
}

/** Does the same as {@link whatIf} for a job that was read from a log. */
export function whatIfIn(logged: LoggedJob, change: Change): WhatIf {
  const { policy, at, job, fits = job === undefined, seeds = usualSeeds } = change;
  const { config, policy: id } = logged.snapshot;
  const definition = registry.policies.find((one) => one.id === id);
  // That of a user, which is not mistyped, has a namespace.
  if (definition !== undefined || id.includes('/')) checkSimulated(id, config);
  if (definition === undefined) {
    const ids = registry.policies.map((one) => one.id);
    return refuse('unknown_id', 'policy', oneOf(ids, id), id);
  }
  const settings = settingsOf(config, change.settings ?? {});
  if (policy !== undefined && Object.keys(settings).length > 0)
    refuse('invalid_input', 'settings', 'none beside a policy, which takes its own', Object.keys(settings)[0]);
  const scheduler = change.scheduler ?? (policy === undefined ? undefined : otherPolicies[policy]);
  const preset = presetWithBasis(undefined);
  return whatIfOf({
    logged,
    definition,
    at: eventAt(logged, at),
    settings,
    ...given({ scheduler, predict: change.predict }),
    job: job ?? preset.job,
    fits,
    capTokens: change.capTokens ?? job?.hardware?.maxResponseTokens ?? preset.capTokens,
    seeds,
    onProgress: change.onProgress,
    onSeed: change.onSeed,
  });
}

/** Reads the only session of a log, or the named one. Throws `invalid_input`, `unknown_id`. */
export function jobOf(log: { lines(): Iterable<ReadLine> }, session: string | undefined): LoggedJob {
  const ids = new Set<string>();
  for (const { line } of log.lines()) if (line !== 'torn' && line.kind === 'session') ids.add(line.session);
  if (ids.size === 0) refuse('invalid_input', 'log', 'a log with a session in it', 'no line of one');
  const [first, other] = session === undefined ? ids : [session];
  if (other !== undefined) refuse('invalid_input', 'session', `one of ${[...ids].slice(0, 20).join(', ')}`, 'none');
  // Among several sessions with one id, all but the last are named by the number of their opening, as a log names them.
  const [, id, number] = ids.has(first!) ? [] : (/^(.+?)@+([1-9]\d*)$/s.exec(first!) ?? []);
  if (!ids.has(id ?? first!)) refuse('unknown_id', 'session', oneOf([...ids], first!), first!);
  return loggedJob(log.lines(), id ?? first!, number === undefined ? undefined : Number(number) - 1);
}

/** Returns the number of the meant event; the number before the first event without a place. */
function eventAt({ events, beginsAt }: LoggedJob, place: Place | undefined): number {
  if (place === undefined) return 0;
  if ('seq' in place) return place.seq;
  return events.findLast(({ event }) => event.at <= place.at - beginsAt)?.seq ?? 0;
}

/** Returns whole settings: if a field of a setting is set, the other fields come from the log. */
export function settingsOf(config: unknown, set: Readonly<Record<string, unknown>>): Record<string, unknown> {
  // The object has no prototype, so that a setting named `__proto__` is an ordinary name, and is refused.
  const settings: Record<string, unknown> = Object.create(null);
  for (const [path, value] of Object.entries(set)) {
    const [name, field, ...more] = path.split('.');
    if (more.length > 0) refuse('invalid_input', 'settings', 'a setting, or a field of one (retry.data)', path);
    const before = settings[name!] ?? (config as Record<string, unknown>)[name!];
    settings[name!] = field === undefined ? value : { ...(before as object), [field]: value };
  }
  return settings;
}
