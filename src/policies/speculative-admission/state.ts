/** The state that speculative-admission owns. */

import type { Fifo } from '../../core/fifo.ts';
import type { IndexedHeap } from '../../core/heap.ts';
import type { RecentIds } from '../../core/recent-ids.ts';
import type { KeptResponse, Prompt } from '../../schemas/prompts.ts';
import type { AdmissionDecision } from './decisions.ts';
import type { Departures } from './departures.ts';
import type { IdMint, Places } from './ids.ts';
import type { AdmissionConfig } from './schema.ts';
import type { Exploration } from './speculation.ts';

/** An inference engine that takes requests. */
export interface Engine {
  readonly id: string;
  active: boolean;
  /** Requests that hold a slot here. */
  requests: number;
  /** Tokens of those requests, as far as known. */
  tokens: number;
  readonly running: Set<ResponseState>;
  heapIndex: number;
}

export type FaultKind = 'infrastructure' | 'data' | 'environment';
export type LaunchCause = 'planned' | 'retry_infrastructure' | 'retry_data' | 'retry_environment' | 'host_restarted';

/**
 * `pending` in line to be launched; `running`, `waiting` for its environment, `resuming` in line for an engine, and
 * `aborting` are in flight; `held` complete and kept; `abandoned` over, without use.
 */
export type ResponseStatus = 'pending' | 'running' | 'waiting' | 'resuming' | 'aborting' | 'held' | 'abandoned';

/**
 * One response of a prompt, and the request that generates it while one is in flight. One object for both: with
 * 100,000 in flight the time of an event is mostly spent waiting for memory.
 */
export interface ResponseState {
  readonly prompt: PromptState;
  readonly index: number;
  status: ResponseStatus;
  /** The request of the last launch; empty before the first. */
  requestId: string;
  /** The round that its request belongs to, if any is in flight. */
  round: Round | null;
  engine: Engine | null;
  /** Whether it occupies a slot: not while its environment works. */
  holdsSlot: boolean;
  /** Whether its tokens are awaited although it is being aborted: its prompt settles. */
  awaited: boolean;
  /** Tokens that it counts for on its engine. */
  load: number;
  tokens: number;
  /** Replaced, never changed: responses of a round share them. */
  weightVersions: readonly number[];
  reward: number | null;
  /** Replaced, never changed: most share the one without failures. */
  failures: Readonly<Record<FaultKind, number>>;
  resume: KeptResponse | null;
  cause: LaunchCause;
  /** Position in the line that it stands in, or in the order of launches. */
  order: number;
  /** When it was launched; once it is aborted, when that was decided. */
  since: number;
}

/**
 * `standby` in line to be started; `active` until it is `collected`; `passed` once the host has judged that it counts, as
 * long as there is no room for it in a round; `counted`; `settling` until its aborts are confirmed; `gone`.
 */
export type PromptStatus = 'standby' | 'active' | 'collected' | 'passed' | 'counted' | 'settling' | 'gone';

/** A prompt of the open round, or one that is carried or settles after it. */
export interface PromptState {
  /** As it came; what of its kept responses was dropped is not in it any more. */
  spec: Prompt;
  readonly seq: number;
  lane: Lane | null;
  status: PromptStatus;
  /** First attempt number of its requests: above all those that went before, so that no id comes twice. */
  attemptBase: number;
  /** Which prefix was in use when it came, counted from 0. */
  readonly firstPrefix: number;
  /** Version of the weights when it was started. */
  startVersion: number;
  readonly responses: ResponseState[];
  held: number;
  rewards: number;
  /** Aborts that are awaited before it can be deferred (`keepPartial`). */
  unsettled: number;
  /** Why and in which round it settles. */
  settling: { roundId: string; reason: DeferReason } | null;
}

export type DeferReason = Extract<AdmissionDecision, { type: 'prompt.deferred' }>['reason'];

/** Prompts that share a quota: those of one domain, or all of them. */
export interface Lane {
  readonly domain: string | null;
  readonly quota: number;
  readonly target: number;
  /** Prompts taken in and neither filtered nor quarantined since, those that count included. */
  admitted: number;
  counted: number;
  /** Prompts asked for and not supplied yet. */
  awaiting: number;
  readonly standby: Fifo<PromptState>;
  /** Prompts that are in and do not count yet. */
  readonly members: Set<PromptState>;
  exhausted: boolean;
}

export interface Round {
  readonly id: string;
  readonly kind: 'short' | 'long';
  readonly weightVersion: number;
  /** The same, as its requests share it. */
  readonly weightVersions: readonly number[];
  readonly openedAt: number;
  completedAt: number;
  /** Responses launched for each prompt. */
  readonly responses: number;
  /** Speculation factor that an exploration is trying. */
  readonly factor: number;
  readonly lanes: readonly Lane[];
  counted: number;
  /** Requests of the round that are not over. */
  inFlight: number;
  /** Duplicates in a row, without a new prompt between. */
  duplicates: number;
  onlyDuplicates: boolean;
}

/** What has changed in a round: `counted`, or a reason to ask for more prompts. */
export type Unsettled = 'counted' | Extract<AdmissionDecision, { type: 'prompts.request' }>['reason']['code'];

export interface AdmissionState {
  readonly config: AdmissionConfig;
  round: Round | null;
  readonly draining: Round[];
  /** The last rounds, so that late supplies are told from unknown ones. */
  readonly recentRounds: RecentIds;
  readonly prompts: Map<string, PromptState>;
  readonly settling: Set<PromptState>;
  /**
   * Held responses that are not found by what their ids say: prompts brought them along, or settle with them, or they were
   * generated before the last restart.
   */
  readonly elsewhere: Map<string, ResponseState>;
  /** Requests of prompts that have left. */
  readonly departures: Departures;
  /** Requests whose abort is not confirmed; all others in flight are found through their prompts. */
  readonly aborting: Map<string, ResponseState>;
  readonly engines: Map<string, Engine>;
  readonly open: IndexedHeap<Engine>;
  // What has left a line early stays in it and is passed over at its turn.
  readonly resumes: Fifo<{ response: ResponseState; order: number }>;
  readonly retries: Fifo<ResponseState>;
  readonly launches: Fifo<ResponseState>;
  readonly aborts: Fifo<ResponseState>;
  readonly deadlines: Fifo<{ response: ResponseState; requestId: string }>;
  /** When the timer fires, by its name; absent while none is set. */
  readonly timers: { abortGrace: number | null; responseTimeout: number | null };
  slotsTaken: number;
  /** Why the round must be looked at before the event is over; null between events. */
  unsettled: Unsettled | null;
  /** Rounds opened so far. */
  rounds: number;
  seq: number;
  weightVersion: number;
  /** Above every attempt number that was ever minted. */
  nextAttempt: number;
  prefix: string;
  readonly ids: IdMint;
  readonly places: Places;
  /** The last prefixes before this one, oldest first. */
  readonly oldPrefixes: string[];
  /** Prefixes before this one, those that are forgotten included. */
  restarts: number;
  readonly exhausted: { all: boolean; readonly domains: Set<string> };
  readonly exploration: Exploration;
}

/** Whether a request generates it and nobody has decided to abort that. */
export function isLive({ status }: ResponseState): boolean {
  return status === 'running' || status === 'waiting' || status === 'resuming';
}

/** By prompts in the order in which they came, then by index. */
export function byPlace(a: ResponseState, b: ResponseState): number {
  return a.prompt.seq - b.prompt.seq || a.index - b.index;
}
