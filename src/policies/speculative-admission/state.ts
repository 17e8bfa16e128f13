/** The state that speculative-admission owns. */

import { z } from 'zod';
import { Fifo } from '../../core/collections/fifo.ts';
import { Heap, IndexedHeap } from '../../core/collections/heap.ts';
import { prefixes } from '../../core/ids/minted-ids.ts';
import { recentIds } from '../../core/ids/recent-ids.ts';
import { makerOf } from '../../core/machine/beginning.ts';
import type { Live } from '../../core/machine/definition.ts';
import { derived, mapBy, setOf } from '../../core/machine/state.ts';
import { goneEngines } from '../../core/rollout/engines.ts';
import { isExpiring } from '../../core/rollout/prompts.ts';
import { sharedFaults } from '../../core/rollout/shared-faults.ts';
import type { SpeculativeAdmissionConfig } from '../../generated/settings/speculative-admission.ts';
import { promptDeferred } from '../../schemas/decisions/prompts.ts';
import { faultScope } from '../../schemas/faults.ts';
import type { Message } from '../../schemas/messages.ts';
import { keptResponse, type Prompt, prompt as promptSpec } from '../../schemas/prompts.ts';
import { count, roundKind } from '../../schemas/units.ts';
import { departures, IdMint } from './ids.ts';
import { mostRequests } from './schema.ts';
import { exploration, newExploration } from './speculation.ts';

const time = z.number();

const engine = z.strictObject({
  id: z.string(),
  active: z.boolean(),
  /** Whether the engine is lost; requests that ran on the engine may still point here. */
  isLost: derived(() => false),
  /** Number of the engine's latest responses, in a row, whose weights were too old. */
  stale: count,
  /** Number of requests that hold a slot. */
  requests: derived(() => 0),
  /** Tokens of those requests, as far as known. */
  tokens: derived(() => 0),
  running: derived(() => new Set<ResponseState>()),
  heapIndex: derived(() => -1),
});
/** An inference engine that takes requests. */
export interface Engine extends z.output<typeof engine> {}

const quota = z.strictObject({
  domain: z.string().nullable(),
  prompts: count,
  /** Prompts to begin: those that it speculates on, and what the chances of those that are here to be kept lack to 1. */
  target: z.number().nonnegative(),
  /** Number of prompts that were taken in and neither filtered nor failed, including counting prompts. */
  admitted: count,
  counted: count,
  /** Number of prompts that were asked for and not yet supplied. */
  awaiting: count,
  /** Whether the source has no more prompts for this quota. */
  exhausted: z.boolean(),
  /** Prompts that wait to be started. */
  standby: derived(() => new Fifo<PromptState>()),
  /** Prompts that were started and do not count. */
  members: derived(() => new Set<PromptState>()),
  /** Members whose oldest tokens would be too old in a round with newer weights, so that this round waits for them. */
  expiring: derived(() => new Set<PromptState>()),
  /** Members that could count if no place were reserved for `expiring` members; some have left meanwhile. */
  ready: derived(() => new Heap<PromptState>(bySeq)),
});
/** Prompts that share a quota: the prompts of one domain, or all prompts. */
export interface DomainQuota extends z.output<typeof quota> {}

const round = z
  .strictObject({
    id: z.string(),
    kind: roundKind,
    weightVersion: count,
    /** A list with only this version. The requests of the round share the list. */
    weightVersions: derived<readonly number[]>(),
    openedAt: time,
    completedAt: time,
    /** Number of responses launched per prompt. */
    responses: count,
    /** The speculation factor that the exploration tries in this round. */
    factor: z.number(),
    quotas: z.array(quota).min(1),
    counted: count,
    /** Number of the round's requests that are not over. */
    inFlight: count,
    /** Number of duplicates in a row, without a new prompt between them. */
    duplicates: count,
    onlyDuplicates: z.boolean(),
    /** Number of prompts that the round has filtered. */
    filtered: count,
    /** Time since which requested prompts are awaited: the time of the last `prompts.request`, or of the last portion. */
    askedAt: time,
  })
  // Each quota is rounded up separately.
  .refine(({ responses, quotas }) => quotas.reduce((sum, one) => sum + one.target * responses, 0) <= 2 * mostRequests, {
    message: `expected at most ${2 * mostRequests} requests`,
    path: ['responses'],
  });
/** A round that is open, or has requests in flight. */
export interface Round extends z.output<typeof round> {}

const pointer = <T extends { readonly id: string; readonly isLost?: boolean }>() =>
  z.codec(z.string().nullable(), z.custom<T | null>(), {
    // The id stands in the place of its target until `link` replaces it.
    decode: (id) => id as never,
    encode: (one) => (one === null || one.isLost ? null : one.id),
  });

const failures = z
  .strictObject({ infrastructure: count, data: count, environment: count, timeout: count, uncharged: count })
  .readonly();

const response = z.strictObject({
  prompt: derived<PromptState>(),
  index: count,
  /**
   * `pending`: queued for launch; `paused`: not queued before `since`; `parked`: tries fail where the response would run;
   * `aside`: its unjudged failures exceed its budget. In flight: `running`; `waiting` for its environment; `resuming`: queued for
   * an engine; `aborting`. `held`: complete and kept. `abandoned`: over, and not used.
   */
  status: z.enum([
    'pending',
    'paused',
    'parked',
    'aside',
    'running',
    'waiting',
    'resuming',
    'aborting',
    'held',
    'abandoned',
  ]),
  /** Request id of the latest launch; empty before the first launch. */
  requestId: z.string(),
  /** The round that the request in flight belongs to, if there is such a request. */
  round: pointer<Round>(),
  engine: pointer<Engine>(),
  /** Whether the response holds a slot. A response whose environment works holds none. */
  holdsSlot: z.boolean(),
  /** Whether the tokens are awaited despite the abort, because the prompt is `settling`. */
  awaited: z.boolean(),
  /** Tokens that the response counts for in the load of its engine. */
  load: count,
  tokens: count,
  /** This list is replaced, never changed, because responses of a round share it. */
  weightVersions: z.array(count).readonly(),
  reward: z.number().nullable(),
  /**
   * Own failures, by kind; `uncharged`: tries that ended otherwise, or whose failure is unjudged or forgotten. This object is
   * replaced, never changed, because most responses share the object without failures.
   */
  failures,
  /** Place and time of the latest failure. */
  lastFault: z.strictObject({ scope: faultScope, id: z.string().nullable(), at: time }).readonly().nullable(),
  /** Time at which the failures exceeded the budget; `null` if they do not. */
  asideAt: time.nullable(),
  resume: keptResponse.nullable(),
  cause: z.enum([
    'planned',
    'retry_infrastructure',
    'retry_data',
    'retry_environment',
    'retry_timeout',
    'retry_engine_lost',
    'control',
    'retry_stale_weights',
    'retry_ended_early',
    'host_restarted',
  ]),
  /** Position in the response's queue, or in the order of launches. */
  order: count,
  /** Number of the latest launch, in the order of launches and failures. */
  launched: count,
  /** Seconds for which the request may be silent; 0 without a limit. */
  limitSeconds: time,
  /** Time of the latest sign of progress, in seconds: the launch, or a report of more tokens. */
  heardAt: time,
  /** Time of the launch, in seconds; after an abort, the time of the abort decision; while `paused`, the end of the pause. */
  since: time,
  /** Time of the latest resumption, in seconds; absent for most responses, which are never resumed. */
  resumedAt: time.optional(),
});
/**
 * One response of a prompt, and the request that generates it, if one is in flight. One object serves for both: with 100,000
 * requests in flight, the time of an event is mostly memory access.
 */
export interface ResponseState extends z.output<typeof response> {}
/** Faults that have a budget; `uncharged` has none. */
export type FaultKind = Exclude<keyof ResponseState['failures'], 'uncharged'>;
export const faultKinds = ['infrastructure', 'environment', 'timeout', 'data'] as const satisfies readonly FaultKind[];
export type LaunchCause = ResponseState['cause'];

/**
 * `standby`: waits for its start; `active`: until it is `collected`; `passed`: may count, but no round has room yet; `counted`;
 * `settling`: until its aborts are confirmed; `gone`.
 */
export type PromptStatus = z.output<typeof savedStatus> | 'gone';
const savedStatus = z.enum(['standby', 'active', 'collected', 'passed', 'counted', 'settling']);
// A prompt that is `gone` is not saved.
const promptStatus = savedStatus as z.ZodType<PromptStatus, z.output<typeof savedStatus>>;

const prompt = z.strictObject({
  /** The prompt in its original form, without kept responses that were dropped since. */
  spec: promptSpec,
  seq: count,
  /** The quota of the prompt; `null` between rounds and while the prompt is `settling`. */
  quota: derived<DomainQuota | null>(),
  status: promptStatus,
  /** First attempt number for requests of the prompt: higher than all earlier ones, so that no id is minted twice. */
  attemptBase: count,
  /** Number of the prefix that was in use when the prompt came, counted from 0. */
  firstPrefix: count,
  /** Version of the weights when the prompt was started. */
  startVersion: count,
  responses: z.array(response),
  held: count,
  rewards: count,
  /** Number of engines in a row that were lost with a request of the prompt, without a response between the losses. */
  losses: count,
  /** Number of aborts that must be confirmed before the prompt can be deferred (`partialRollout`). */
  unsettled: count,
  /** The reason and the round of the deferral, while the prompt is `settling`. */
  settling: z.strictObject({ roundId: z.string(), reason: promptDeferred.schema.shape.reason }).nullable(),
});
/** A prompt of the open round, or a prompt that is carried or `settling` after its round. */
export interface PromptState extends z.output<typeof prompt> {}
export type DeferReason = Message<'prompt.deferred'>['reason'];

/**
 * Requests whose abort was decided, in this order; those that have ended since stay until their turn. Saved are those that no saved
 * prompt has: of prompts that have left, and those that a retry has replaced.
 */
const aborting = z.codec(z.array(z.strictObject({ promptId: z.string(), response })), z.custom<Fifo<ResponseState>>(), {
  decode: (all) => {
    const fifo = new Fifo<ResponseState>();
    for (const { promptId, response: one } of all) {
      one.prompt = newPrompt({ promptId });
      one.prompt.status = 'gone';
      fifo.push(one);
    }
    return fifo;
  },
  encode: (fifo) =>
    [...fifo]
      .filter((one) => isAborting(one) && (one.prompt.status === 'gone' || responseAt(one.prompt, one.index) !== one))
      .map((one) => ({ promptId: one.prompt.spec.promptId, response: one })),
});

/** A change of a round that must be settled: `counted`, or a reason to ask for more prompts. */
export type Unsettled =
  | 'counted'
  | Exclude<Message<'prompts.request'>['reason']['code'], 'window_begun' | 'within_staleness'>;

/** The time at which a silent request has run too long. */
export interface Limit {
  readonly response: ResponseState;
  readonly requestId: string;
  readonly due: number;
  readonly order: number;
}

export const byDue = (a: Limit, b: Limit): number => a.due - b.due || a.order - b.order;

/** Failures of a prompt that has left for a later round, by response. */
const recalled = z.strictObject({
  promptId: z.string(),
  responses: z.array(z.strictObject({ index: count, failures })),
});

const line = derived(() => new Fifo<ResponseState>());

export const admissionState = z.strictObject({
  round: round.nullable(),
  draining: z.array(round),
  /** The latest rounds, to tell late supplies from supplies for unknown rounds. */
  recentRounds: recentIds(z.string()),
  prompts: mapBy(({ spec }) => spec.promptId, prompt),
  settling: setOf(prompt),
  aborting,
  /** By id: requests in flight, and the responses that are held. */
  requests: derived(() => new Map<string, ResponseState>()),
  /** By id: the latest `settling` prompt. */
  settlingOf: derived(() => new Map<string, PromptState>()),
  engines: mapBy('id', engine),
  goneEngines,
  /** Time at which each timer fires, in seconds; `null` for a timer that is not set. */
  timers: z.strictObject({ abortGrace: time.nullable(), responseTimeout: time.nullable(), pause: time.nullable() }),
  /** Number of responses in a row with too old weights, from engines that nobody has named. */
  stale: count,
  faults: sharedFaults,
  recalled: mapBy('promptId', recalled),
  /** Whether the latest single try was a comparison, for a prompt that has its responses. */
  controlled: z.boolean(),
  /** Tokens and seconds of completed responses, weighted towards the latest, if responses have a time limit. */
  pace: z.strictObject({ tokens: z.number().nonnegative(), seconds: z.number().nonnegative() }),
  /** Number of rounds opened so far. */
  rounds: count,
  seq: count,
  weightVersion: count,
  /** A number above every attempt number that was ever minted. */
  nextAttempt: count,
  ...prefixes,
  /** Number of earlier prefixes, including forgotten ones. */
  restarts: count,
  /** Requests of prompts that have left. */
  departures,
  exhausted: z.strictObject({ all: z.boolean(), domains: setOf(z.string()) }),
  /** Number of prompts filtered since one counted last, and the time of the first of these, in seconds. */
  futile: z.strictObject({ filtered: count, since: time }),
  exploration,
  open: derived(() => new IndexedHeap<Engine>(byLoad)),
  // An entry whose response leaves the queue early stays in it, and is skipped at its turn.
  resumes: derived(() => new Fifo<{ response: ResponseState; order: number }>()),
  retries: line,
  pauses: derived(() => new Heap<ResponseState>((a, b) => a.since - b.since || a.order - b.order)),
  launches: line,
  deadlines: derived(() => new Heap<Limit>(byDue)),
  /** The `parked` responses, by prompt: the first prompts are tried first. */
  parked: derived(() => new Map<PromptState, ResponseState[]>()),
  /** The `aside` responses, in the order of trying. */
  asides: derived(() => new Set<ResponseState>()),
  /** Prompts that three engines were lost with. */
  suspects: derived(() => new Set<PromptState>()),
  /** Prompts with generating requests, and the number of these requests. */
  live: derived(() => new Map<PromptState, number>()),
  /** The response with which the next launch is compared; `null` between events. */
  comparedWith: derived<ResponseState | null>(() => null),
  /** Whether parked responses may be tried, because something they waited for has ended. */
  mayUnpark: derived(() => false),
  slotsTaken: derived(() => 0),
  /** Time of the first deadline after the latest event, in seconds; `null` if it is not known. */
  dueAt: derived<number | null>(() => null),
  /** The reason to settle the round at the end of the event; `null` between events. */
  unsettled: derived((): Unsettled | null => null),
  ids: derived(() => new IdMint()),
});
export type AdmissionState = Live<z.output<typeof admissionState>, SpeculativeAdmissionConfig>;
export type SavedAdmission = z.input<typeof admissionState>;

export const begin = ({ idPrefix }: SpeculativeAdmissionConfig): Partial<SavedAdmission> => ({
  prefix: idPrefix,
  exploration: newExploration(),
});

const bySeq = (a: PromptState, b: PromptState): number => a.seq - b.seq;
const byLoad = (a: Engine, b: Engine): number =>
  a.stale - b.stale || a.tokens - b.tokens || a.requests - b.requests || (a.id < b.id ? -1 : 1);

const noVersions: readonly number[] = Object.freeze([]);
/** The failures of a response that has none. */
export const noFailures = Object.freeze({ infrastructure: 0, data: 0, environment: 0, timeout: 0, uncharged: 0 });

export const makeEngine = makerOf(engine);
export const makeQuota = makerOf(quota);
export const makeRound = makerOf(round);
const makePrompt = makerOf(prompt);

/** Makes a prompt that is not started. */
export const newPrompt = (
  spec: Prompt,
  its: Partial<Pick<PromptState, 'seq' | 'quota' | 'startVersion' | 'firstPrefix'>> = {},
): PromptState => makePrompt({ spec, status: 'standby', ...its });

/** Makes a response that is in no queue yet. A literal, because a round makes thousands, and their fields are read most. */
export function newResponse(owner: PromptState, index: number): ResponseState {
  return {
    prompt: owner,
    index,
    status: 'pending',
    requestId: '',
    round: null,
    engine: null,
    holdsSlot: false,
    awaited: false,
    load: 0,
    tokens: 0,
    weightVersions: noVersions,
    reward: null,
    failures: noFailures,
    lastFault: null,
    asideAt: null,
    resume: null,
    cause: 'planned',
    order: 0,
    launched: 0,
    limitSeconds: 0,
    heardAt: 0,
    since: 0,
    resumedAt: undefined,
  };
}

/** Returns the responses that a prompt holds: complete ones, by index. */
export const heldOf = ({ responses }: PromptState): ResponseState[] => responses.filter((one) => one.status === 'held');

/** Number of tries of a response that failed or were given up, which is the number of its next attempt. */
export function triesOf({ infrastructure, data, environment, timeout, uncharged }: ResponseState['failures']): number {
  return infrastructure + data + environment + timeout + uncharged;
}

/** Queues a response to be launched: retries come before first tries, both in order. */
export function requeue(state: AdmissionState, response: ResponseState): void {
  response.status = 'pending';
  response.order = state.seq++;
  (response.cause === 'planned' ? state.launches : state.retries).push(response);
}

/** Queues a response for a cause, with the tokens that it resumes from. */
export function enqueue(state: AdmissionState, response: ResponseState, cause: LaunchCause): void {
  response.tokens = response.resume?.tokens ?? 0;
  response.cause = cause;
  requeue(state, response);
}

/** Puts off the next try of a response; `since` is the end of its pause. */
export function pause(state: AdmissionState, response: ResponseState, until: number): void {
  response.status = 'paused';
  response.since = until;
  response.order = state.seq++;
  state.pauses.push(response);
  state.dueAt = null;
}

/** Whether an engine takes one more request. */
export const hasRoom = ({ config: { maxInFlightPerEngine } }: AdmissionState, { active, requests }: Engine): boolean =>
  active && (maxInFlightPerEngine === undefined || requests < maxInFlightPerEngine);

/** Returns the engine of a request, unless the engine is lost. */
export const engineOf = ({ engine }: ResponseState): Engine | null =>
  engine === null || engine.isLost ? null : engine;

/** Most further tries of a response after faults of one kind. A late response is a fault of the infrastructure, or hangs. */
export const budgetOf = ({ config }: AdmissionState, kind: FaultKind): number =>
  config.retry[kind === 'timeout' ? 'infrastructure' : kind];

/** Makes a started prompt a member of its quota. */
export function join({ config }: AdmissionState, member: PromptState, its: DomainQuota, round: Round): void {
  member.quota = its;
  its.members.add(member);
  if (isExpiring(member.startVersion, round.weightVersion, config.maxStaleness)) its.expiring.add(member);
}

/** Removes a member that counts or leaves from its quota. */
export function leaveQuota(member: PromptState, itsQuota: DomainQuota): void {
  itsQuota.members.delete(member);
  itsQuota.expiring.delete(member);
}

/** Returns the response of a prompt with this index. */
export function responseAt({ responses }: PromptState, index: number): ResponseState | undefined {
  const one = responses[index];
  return one !== undefined && one.index === index ? one : responses.find((other) => other.index === index);
}

/** What the chance that the prompt is kept lacks to 1, until it counts. */
export const doubtOf = ({ status, spec }: PromptState): number =>
  status === 'counted' ? 0 : 1 - (spec.keptChance ?? 1);

/** Number of responses that the prompt has begun, if it needs fewer. */
export function begunOf({ config }: AdmissionState, { responses }: PromptState): { readonly launched?: number } {
  const launched = responses.reduce((sum, { cause }) => sum + Number(cause !== 'control'), 0);
  return launched > config.responsesPerPrompt ? { launched } : {};
}

/** Whether a request generates the response and is not being aborted. */
export const isLive = ({ status }: ResponseState): boolean =>
  status === 'running' || status === 'waiting' || status === 'resuming';

/** Whether the request that generates the response is being aborted. */
export const isAborting = ({ status }: ResponseState): boolean => status === 'aborting';

/** Whether the response waits for its launch. */
export const isQueued = ({ status }: ResponseState): boolean =>
  status === 'pending' || status === 'paused' || status === 'parked' || status === 'aside';

/** Orders by prompt, in the order of arrival, then by index. */
export const byPromptAndIndex = (a: ResponseState, b: ResponseState): number =>
  a.prompt.seq - b.prompt.seq || a.index - b.index;

/** Returns the quota that a prompt of this domain belongs to. */
export const quotaOf = ({ quotas }: Round, domain: string | undefined): DomainQuota | undefined =>
  quotas[0]!.domain === null ? quotas[0] : quotas.find((one) => one.domain === domain);

/** Returns the id of the open round; between rounds, the id of the previous round. */
export const currentRoundId = ({ round, recentRounds }: AdmissionState): string => round?.id ?? recentRounds.newest!;

/** Whether a round has filtered so many prompts that it starts no more. */
export const isSpent = ({ config: { maxFiltered } }: AdmissionState, { filtered }: Round): boolean =>
  maxFiltered !== undefined && filtered >= maxFiltered;
