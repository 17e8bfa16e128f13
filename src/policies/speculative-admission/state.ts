/** The state that speculative-admission owns. */
import { z } from 'zod';
import type { Live } from '../../core/definition.ts';
import { Fifo } from '../../core/fifo.ts';
import { IndexedHeap } from '../../core/heap.ts';
import { prefixes } from '../../core/minted-ids.ts';
import { recentIds } from '../../core/recent-ids.ts';
import { derived, mapBy, setOf } from '../../core/state.ts';
import { promptDeferred } from '../../schemas/decisions/prompts.ts';
import type { Message } from '../../schemas/messages.ts';
import { keptResponse, type Prompt, prompt as promptSpec } from '../../schemas/prompts.ts';
import { count, roundKind } from '../../schemas/units.ts';
import { departures, IdMint, Places } from './ids.ts';
import { mostRequests } from './schema.ts';
import { exploration, newExploration } from './speculation.ts';
import type { SpeculativeAdmissionConfig } from './types.ts';

const time = z.number();

const engine = z.strictObject({
  id: z.string(),
  active: z.boolean(),
  /** Whether it is gone: requests that ran on it may still point here. */
  isLost: derived(() => false),
  /** Requests that hold a slot here. */
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
  target: count,
  /** Prompts taken in and neither filtered nor failed since, those that count included. */
  admitted: count,
  counted: count,
  /** Prompts asked for and not yet supplied. */
  awaiting: count,
  /** Whether the source has no more for it. */
  exhausted: z.boolean(),
  /** Prompts in line to be started. */
  standby: derived(() => new Fifo<PromptState>()),
  /** Prompts that were started and do not count. */
  members: derived(() => new Set<PromptState>()),
});
/** Prompts that share a quota: those of one domain, or all of them. */
export interface DomainQuota extends z.output<typeof quota> {}

const round = z
  .strictObject({
    id: z.string(),
    kind: roundKind,
    weightVersion: count,
    /** A list of this version alone, which its requests share. */
    weightVersions: derived<readonly number[]>(),
    openedAt: time,
    completedAt: time,
    /** Responses launched for each prompt. */
    responses: count,
    /** The speculation factor that an exploration is trying. */
    factor: z.number(),
    quotas: z.array(quota).min(1),
    counted: count,
    /** Requests of the round that are not over. */
    inFlight: count,
    /** Duplicates in a row, without a new prompt in between. */
    duplicates: count,
    onlyDuplicates: z.boolean(),
  })
  // Each quota is rounded up by itself.
  .refine(({ responses, quotas }) => quotas.reduce((sum, one) => sum + one.target * responses, 0) <= 2 * mostRequests, {
    message: `expected at most ${2 * mostRequests} requests`,
    path: ['responses'],
  });
/** A round that is open, or has requests in flight. */
export interface Round extends z.output<typeof round> {}

// Pointers to rounds and engines are saved as ids; `link` puts what has the id in its place.
const itsRound = z.codec(z.string().nullable(), z.custom<Round | null>(), {
  decode: (id) => id as never,
  encode: (one) => (one === null ? null : one.id),
});
const itsEngine = z.codec(z.string().nullable(), z.custom<Engine | null>(), {
  decode: (id) => id as never,
  encode: (one) => (one === null || one.isLost ? null : one.id),
});

const response = z.strictObject({
  prompt: derived<PromptState>(),
  index: count,
  /**
   * `pending` in line to be launched; `running`, `waiting` for its environment, `resuming` in line for an engine, and
   * `aborting` are in flight; `held` complete and kept; `abandoned` over, without use.
   */
  status: z.enum(['pending', 'running', 'waiting', 'resuming', 'aborting', 'held', 'abandoned']),
  /** The request of the last launch; empty before the first. */
  requestId: z.string(),
  /** The round that its request belongs to, if any is in flight. */
  round: itsRound,
  engine: itsEngine,
  /** Whether it occupies a slot: not while its environment works. */
  holdsSlot: z.boolean(),
  /** Whether its tokens are awaited although it is being aborted: its prompt settles. */
  awaited: z.boolean(),
  /** Tokens that the response counts for on its engine. */
  load: count,
  tokens: count,
  /** This list is replaced, never changed: responses of a round share it. */
  weightVersions: z.array(count).readonly(),
  reward: z.number().nullable(),
  /** This object is replaced, never changed: most responses share the one without failures. */
  failures: z.strictObject({ infrastructure: count, data: count, environment: count }).readonly(),
  resume: keptResponse.nullable(),
  cause: z.enum(['planned', 'retry_infrastructure', 'retry_data', 'retry_environment', 'host_restarted']),
  /** Position in the line that it stands in, or in the order of launches. */
  order: count,
  /** Time of its launch, in seconds; once it is aborted, the time of that decision. */
  since: time,
});
/**
 * One response of a prompt, and the request that generates it while one is in flight. One object for both: with
 * 100,000 in flight the time of an event is mostly spent waiting for memory.
 */
export interface ResponseState extends z.output<typeof response> {}
export type FaultKind = keyof ResponseState['failures'];
export type LaunchCause = ResponseState['cause'];

/**
 * `standby` in line to be started; `active` until it is `collected`; `passed` once the host has judged that it counts, as
 * long as there is no room for it in a round; `counted`; `settling` until its aborts are confirmed; `gone`.
 */
export type PromptStatus = z.output<typeof savedStatus> | 'gone';
const savedStatus = z.enum(['standby', 'active', 'collected', 'passed', 'counted', 'settling']);
// A prompt that is `gone` is not saved.
const promptStatus = savedStatus as z.ZodType<PromptStatus, z.output<typeof savedStatus>>;

const prompt = z.strictObject({
  /** The prompt as it came, without the kept responses that were dropped since. */
  spec: promptSpec,
  seq: count,
  /** `null` between rounds and while it settles. */
  quota: derived<DomainQuota | null>(),
  status: promptStatus,
  /** First attempt number of its requests: above all earlier ones, so that no id comes twice. */
  attemptBase: count,
  /** Number of the prefix that was in use when it came, counted from 0. */
  firstPrefix: count,
  /** Version of the weights when it was started. */
  startVersion: count,
  responses: z.array(response),
  held: count,
  rewards: count,
  /** Aborts that are awaited before it can be deferred (`partialRollout`). */
  unsettled: count,
  /** The reason and the round of its settling. */
  settling: z.strictObject({ roundId: z.string(), reason: promptDeferred.schema.shape.reason }).nullable(),
});
/** A prompt of the open round, or one that is carried or settles after it. */
export interface PromptState extends z.output<typeof prompt> {}
export type DeferReason = Message<'prompt.deferred'>['reason'];

/** Only requests that no saved prompt has are saved: of prompts that have left, or that have tried again since. */
const aborting = z.codec(
  z.array(z.strictObject({ promptId: z.string(), response })),
  z.custom<Map<string, ResponseState>>(),
  {
    decode: (all) =>
      new Map(
        all.map(({ promptId, response: one }) => {
          one.prompt = newPrompt({ promptId }, 0, null, { startVersion: 0, firstPrefix: 0 });
          one.prompt.status = 'gone';
          return [one.requestId, one];
        }),
      ),
    encode: (map) =>
      [...map.values()]
        .filter((one) => one.prompt.status === 'gone' || responseAt(one.prompt, one.index) !== one)
        .map((one) => ({ promptId: one.prompt.spec.promptId, response: one })),
  },
);

/** The change of a round: `counted`, or a reason to ask for more prompts. */
export type Unsettled = 'counted' | Message<'prompts.request'>['reason']['code'];

const line = derived(() => new Fifo<ResponseState>());

/** Schema of the state. */
export const admissionState = z.strictObject({
  round: round.nullable(),
  draining: z.array(round),
  /** The last rounds, so that late supplies are told from unknown ones. */
  recentRounds: recentIds(z.string()),
  prompts: mapBy(({ spec }) => spec.promptId, prompt),
  settling: setOf(prompt),
  /** Requests whose abort is not confirmed, in the order of the decisions; their prompts lead to all others in flight. */
  aborting,
  engines: mapBy('id', engine),
  /** Time when each timer fires, in seconds; `null` while it is not set. */
  timers: z.strictObject({ abortGrace: time.nullable(), responseTimeout: time.nullable() }),
  /** Rounds opened so far. */
  rounds: count,
  seq: count,
  weightVersion: count,
  /** A bound above every attempt number that was ever minted. */
  nextAttempt: count,
  ...prefixes,
  /** Number of earlier prefixes, the forgotten ones included. */
  restarts: count,
  /** Requests of prompts that have left. */
  departures,
  exhausted: z.strictObject({ all: z.boolean(), domains: setOf(z.string()) }),
  exploration,
  /**
   * Held responses that are not found by what their ids say: prompts brought them along, or settle with them, or they were
   * generated before the last restart.
   */
  elsewhere: derived(() => new Map<string, ResponseState>()),
  open: derived(() => new IndexedHeap<Engine>(byLoad)),
  // An entry that has left a line early stays in it and is passed over at its turn.
  resumes: derived(() => new Fifo<{ response: ResponseState; order: number }>()),
  retries: line,
  launches: line,
  aborts: line,
  deadlines: derived(() => new Fifo<{ response: ResponseState; requestId: string }>()),
  slotsTaken: derived(() => 0),
  /** The reason to look at the round before the event is over; `null` between events. */
  unsettled: derived((): Unsettled | null => null),
  ids: derived(() => new IdMint()),
  places: derived(() => new Places()),
});
/** The state of the policy. */
export type AdmissionState = Live<z.output<typeof admissionState>, SpeculativeAdmissionConfig>;
/** The state as it is saved. */
export type SavedAdmission = z.input<typeof admissionState>;

export const begin = ({ idPrefix }: SpeculativeAdmissionConfig): SavedAdmission => ({
  round: null,
  draining: [],
  recentRounds: [],
  prompts: [],
  settling: [],
  aborting: [],
  engines: [],
  timers: { abortGrace: null, responseTimeout: null },
  rounds: 0,
  seq: 0,
  weightVersion: 0,
  nextAttempt: 0,
  prefix: idPrefix,
  oldPrefixes: [],
  restarts: 0,
  departures: { horizon: 0, launched: [] },
  exhausted: { all: false, domains: [] },
  exploration: newExploration(),
});

function byLoad(a: Engine, b: Engine): number {
  return a.tokens - b.tokens || a.requests - b.requests || (a.id < b.id ? -1 : 1);
}

const noVersions: readonly number[] = Object.freeze([]);
const noFailures = Object.freeze({ infrastructure: 0, data: 0, environment: 0 });

export function newPrompt(
  spec: Prompt,
  seq: number,
  itsQuota: DomainQuota | null,
  { startVersion, firstPrefix }: Pick<PromptState, 'startVersion' | 'firstPrefix'>,
): PromptState {
  return {
    spec,
    seq,
    quota: itsQuota,
    status: 'standby',
    attemptBase: 0,
    firstPrefix,
    startVersion,
    responses: [],
    held: 0,
    rewards: 0,
    unsettled: 0,
    settling: null,
  };
}

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
    resume: null,
    cause: 'planned',
    order: 0,
    since: 0,
  };
}

/** Returns the response of a prompt with this index. */
export function responseAt({ responses }: PromptState, index: number): ResponseState | undefined {
  const one = responses[index];
  return one !== undefined && one.index === index ? one : responses.find((other) => other.index === index);
}

/** Whether a request generates it and is not being aborted. */
export function isLive({ status }: ResponseState): boolean {
  return status === 'running' || status === 'waiting' || status === 'resuming';
}

/** Orders by prompts as they came, then by index. */
export function byPlace(a: ResponseState, b: ResponseState): number {
  return a.prompt.seq - b.prompt.seq || a.index - b.index;
}

/** Returns the quota that a prompt of this domain belongs to. */
export function quotaOf({ quotas }: Round, domain: string | undefined): DomainQuota | undefined {
  return quotas[0]!.domain === null ? quotas[0] : quotas.find((one) => one.domain === domain);
}
