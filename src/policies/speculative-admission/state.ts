/** The state that speculative-admission owns. */
import { Fifo } from '../../core/fifo.ts';
import { IndexedHeap } from '../../core/heap.ts';
import type { KeptResponse, Prompt } from '../../schemas/prompts.ts';
import type { AdmissionDecision } from './decisions.ts';
import type { AdmissionConfig } from './schema.ts';
import { type Exploration, newExploration } from './speculation.ts';

/** An inference engine that takes requests. */
export interface Engine {
  readonly id: string;
  active: boolean;
  /** Requests that hold a slot here. */
  requests: number;
  /** Tokens of those requests, as far as known. */
  tokens: number;
  readonly running: Set<Request>;
  heapIndex: number;
}

/** `resuming`: its environment has answered, and it waits for an engine. */
export type Phase = 'running' | 'waiting' | 'resuming' | 'aborting';

/** A request that was launched and of which the end is not known yet. */
export interface Request {
  readonly id: string;
  readonly promptId: string;
  /** Its place, while its response is wanted, or its tokens are (a prompt that settles). */
  prompt: PromptState | null;
  readonly index: number;
  round: Round | null;
  phase: Phase;
  engine: Engine | null;
  /** Whether it occupies a slot: not while its environment works. */
  holdsSlot: boolean;
  /** Tokens that it counts for on its engine. */
  load: number;
  tokens: number;
  /** Replaced, never changed: requests of a round share them. */
  weightVersions: readonly number[];
  launchedAt: number;
  /** When its abort was decided. */
  abortedAt: number;
  /** Position in the order of launches, aborts or resumptions, by phase. */
  order: number;
}

export type FaultKind = 'infrastructure' | 'data' | 'environment';
export type LaunchCause = 'planned' | 'retry_infrastructure' | 'retry_data' | 'retry_environment' | 'host_restarted';

/** One response of a prompt. */
export interface Slot {
  readonly prompt: PromptState;
  readonly index: number;
  status: 'pending' | 'live' | 'held' | 'abandoned';
  requestId: string;
  tokens: number;
  weightVersions: readonly number[];
  reward: number | null;
  /** Replaced, never changed: most slots share the one without failures. */
  failures: Readonly<Record<FaultKind, number>>;
  resume: KeptResponse | null;
  cause: LaunchCause;
  /** Position in the order of launching. */
  order: number;
}

export type PromptStatus = 'standby' | 'active' | 'collected' | 'counted' | 'settling' | 'gone';

/** A prompt of the open round, or one that is carried or settles after it. */
export interface PromptState {
  readonly spec: Prompt;
  readonly seq: number;
  lane: Lane | null;
  status: PromptStatus;
  /** First attempt number of its requests: above all those that went before, so that no id comes twice. */
  attemptBase: number;
  /** Version of the weights when it was started. */
  startVersion: number;
  readonly slots: Slot[];
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

export interface AdmissionState {
  readonly config: AdmissionConfig;
  round: Round | null;
  readonly draining: Round[];
  /** The last rounds, so that late supplies are told from unknown ones. */
  readonly recentRounds: string[];
  readonly prompts: Map<string, PromptState>;
  readonly settling: Set<PromptState>;
  readonly requests: Map<string, Request>;
  readonly engines: Map<string, Engine>;
  readonly open: IndexedHeap<Engine>;
  readonly resumes: Fifo<Request>;
  readonly retries: Fifo<Slot>;
  readonly launches: Fifo<Slot>;
  readonly aborting: Fifo<Request>;
  readonly deadlines: Fifo<{ request: Request; launchedAt: number }>;
  /** When the timer fires, by its name; absent while none is set. */
  readonly timers: { abortGrace: number | null; responseTimeout: number | null };
  slotsTaken: number;
  /** Rounds opened so far. */
  rounds: number;
  seq: number;
  weightVersion: number;
  /** Above every attempt number that was ever minted. */
  nextAttempt: number;
  prefix: string;
  readonly oldPrefixes: string[];
  readonly exhausted: { all: boolean; readonly domains: Set<string> };
  readonly exploration: Exploration;
}

function byLoad(a: Engine, b: Engine): number {
  return a.tokens - b.tokens || a.requests - b.requests || (a.id < b.id ? -1 : 1);
}

export function newState(config: AdmissionConfig): AdmissionState {
  return {
    config,
    round: null,
    draining: [],
    recentRounds: [],
    prompts: new Map(),
    settling: new Set(),
    requests: new Map(),
    engines: new Map(),
    open: new IndexedHeap(byLoad),
    resumes: new Fifo(),
    retries: new Fifo(),
    launches: new Fifo(),
    aborting: new Fifo(),
    deadlines: new Fifo(),
    timers: { abortGrace: null, responseTimeout: null },
    slotsTaken: 0,
    rounds: 0,
    seq: 0,
    weightVersion: 0,
    nextAttempt: 0,
    prefix: config.idPrefix,
    oldPrefixes: [],
    exhausted: { all: false, domains: new Set() },
    exploration: newExploration(),
  };
}

const noVersions: readonly number[] = Object.freeze([]);
const noFailures = Object.freeze({ infrastructure: 0, data: 0, environment: 0 });

export function newSlot(prompt: PromptState, index: number): Slot {
  return {
    prompt,
    index,
    status: 'pending',
    requestId: '',
    tokens: 0,
    weightVersions: noVersions,
    reward: null,
    failures: noFailures,
    resume: null,
    cause: 'planned',
    order: 0,
  };
}
