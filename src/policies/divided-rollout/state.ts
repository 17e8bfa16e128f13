/** The state of divided-rollout. Sums, heaps and groups are derived: they are not saved but built again. */
import { z } from 'zod';
import { IndexedHeap } from '../../core/collections/heap.ts';
import { recentIds } from '../../core/ids/recent-ids.ts';
import { LengthPredictor, lengthPredictor } from '../../core/lengths/length-prediction.ts';
import { makerOf } from '../../core/machine/beginning.ts';
import type { Context, Live } from '../../core/machine/definition.ts';
import { derived, mapBy } from '../../core/machine/state.ts';
import { goneEngines } from '../../core/rollout/engines.ts';
import type { DividedRolloutConfig, DividedRolloutDecision } from '../../generated/settings/divided-rollout.ts';
import { count, domain, engineId, promptId, requestId, seconds } from '../../schemas/units.ts';

const outside = () => -1;

const request = z.strictObject({
  requestId,
  promptId: promptId.nullable(),
  domain: domain.nullable(),
  /** Number in the order of openings. */
  seq: count,
  /** Number of the prompt's first open request: groups begin in this order. */
  group: count,
  /** `opened`: the request has not asked yet; `waiting`: it has no engine; `running`: an engine generates its chunk. */
  phase: z.enum(['opened', 'waiting', 'running']),
  /** Time since which the request is in this phase, in seconds. */
  since: seconds,
  promptTokens: count,
  /** Response tokens that were reported. */
  tokens: count,
  maxTokens: count.nullable(),
  /** Expected length of the response, in tokens. */
  expectedTokens: count,
  /** Whether the request runs early to show how long its siblings become. */
  probe: z.boolean(),
  /** Most tokens of the chunk that runs. */
  chunkTokens: count,
  chunks: count,
  moves: count,
  /** Engine of the latest chunk. */
  engineId: engineId.nullable(),
  /** Why the request has lost its engine. */
  cause: z.enum(['engine_lost', 'host_restarted']).nullable(),
  /** Number in the order of waiting. */
  line: count,
  waitedSeconds: seconds,
  heapIndex: derived(outside),
  wait: derived<Place>(),
  small: derived<Place>(),
});
/** A request with a chunked response. */
export interface Request extends z.output<typeof request> {}

/** Sets the places of a request, which point to the request itself. */
export function setPlaces(one: Request): void {
  one.wait = { heapIndex: -1, request: one };
  one.small = { heapIndex: -1, request: one };
}

/** The place of a request in the order of contexts, or of waiting times. */
export interface Place {
  heapIndex: number;
  readonly request: Request;
}

const youngestFirst = (a: Request, b: Request): number => contextOf(a) - contextOf(b) || b.seq - a.seq;

const engine = z.strictObject({
  engineId,
  /** Whether the engine takes new chunks. */
  active: z.boolean(),
  capacityTokens: count,
  /** Requests whose chunks run on the engine. */
  running: derived(() => new Set<Request>()),
  /** The same requests, least context first: they are the first to make room. */
  young: derived(() => new IndexedHeap<Request>(youngestFirst)),
  /** Context tokens of the running requests, each including its whole chunk. */
  heldTokens: derived(() => 0),
  /** Context tokens of the running requests at the beginning of their chunks, and tokens expected from there on. */
  contextTokens: derived(() => 0),
  aheadTokens: derived(() => 0),
});
/** An engine with its requests. */
export interface Engine extends z.output<typeof engine> {}
export const makeEngine = makerOf(engine);

/** The open requests to a prompt. */
export interface Group {
  readonly seq: number;
  requests: number;
  readonly waiting: Set<Request>;
}

/** Longest first; among equals, the group that was opened first. */
const longestFirst = (a: Request, b: Request): number => aheadOf(b) - aheadOf(a) || a.group - b.group || a.seq - b.seq;
const byGroup = (a: Request, b: Request): number => a.group - b.group || a.seq - b.seq;
const smallestFirst = (a: Place, b: Place): number =>
  contextOf(a.request) - contextOf(b.request) || a.request.line - b.request.line;
const byWait = (a: Place, b: Place): number => a.request.since - b.request.since || a.request.line - b.request.line;

/** Tokens that a request is expected to generate yet. */
export const aheadOf = ({ expectedTokens, tokens }: Request): number => Math.max(0, expectedTokens - tokens);
/** Tokens of the prompt and of the response so far. */
export const contextOf = ({ promptTokens, tokens }: Request): number => promptTokens + tokens;

/** Number of ended requests that are remembered. */
const mostEnded = 1024;

export const dividedState = z.strictObject({
  requests: mapBy('requestId', request),
  engines: mapBy('engineId', engine),
  goneEngines,
  /** Ids of the latest ended requests: a report about one of them is late, not wrong. */
  ended: recentIds(requestId, mostEnded),
  lengths: lengthPredictor,
  /** Number of the current set of possible siblings, and how many of these responses have ended. */
  round: count,
  roundEnds: count,
  seq: count,
  /** Engine that is to have room for the next request, because this request has waited too long. */
  nextOn: engineId.nullable(),
  groups: derived(() => new Map<string, Group>()),
  /** Waiting requests: probes; requests with tokens; and requests without tokens. */
  probes: derived(() => new IndexedHeap<Request>(byGroup)),
  begun: derived(() => new IndexedHeap<Request>(longestFirst)),
  fresh: derived(() => new IndexedHeap<Request>(longestFirst)),
  /** The begun requests again, least need for room first. */
  small: derived(() => new IndexedHeap<Place>(smallestFirst)),
  waits: derived(() => new IndexedHeap<Place>(byWait)),
});
export type DividedState = Live<z.output<typeof dividedState>, DividedRolloutConfig>;
export type SavedDivided = z.input<typeof dividedState>;
/** The context through which handlers emit decisions. */
export type Ctx = Context<DividedRolloutDecision>;

export const begin = ({ rememberedPrompts }: DividedRolloutConfig): Partial<SavedDivided> => ({
  lengths: new LengthPredictor(rememberedPrompts).save(),
});

export function link(state: DividedState): void {
  for (const one of state.requests.values()) {
    setPlaces(one);
    joinGroup(state, one);
    if (one.phase === 'running') occupy(one, state.engines.get(one.engineId!)!);
    else if (one.phase === 'waiting') enterLine(state, one);
  }
}

export function joinGroup(state: DividedState, { promptId, group }: Request): void {
  if (promptId === null) return;
  const known = state.groups.get(promptId);
  if (known === undefined) state.groups.set(promptId, { seq: group, requests: 1, waiting: new Set() });
  else known.requests += 1;
}

export function leaveGroup(state: DividedState, { promptId }: Request): void {
  if (promptId === null) return;
  const group = state.groups.get(promptId)!;
  group.requests -= 1;
  if (group.requests === 0) state.groups.delete(promptId);
}

const lineOf = ({ probe, tokens }: Request) => (probe ? 'probes' : tokens > 0 ? 'begun' : 'fresh');

/** Adds a request to those that wait for room. */
export function enterLine(state: DividedState, one: Request): void {
  state[lineOf(one)].update(one);
  state.waits.update(one.wait);
  if (lineOf(one) === 'begun') state.small.update(one.small);
  if (one.promptId !== null) state.groups.get(one.promptId)!.waiting.add(one);
}

/** Removes a request from those that wait for room. */
export function leaveLine(state: DividedState, one: Request): void {
  state[lineOf(one)].remove(one);
  state.waits.remove(one.wait);
  state.small.remove(one.small);
  if (one.promptId !== null) state.groups.get(one.promptId)!.waiting.delete(one);
}

/** Counts a chunk on its engine. */
export function occupy(one: Request, engine: Engine): void {
  engine.running.add(one);
  engine.young.update(one);
  engine.heldTokens += contextOf(one) + one.chunkTokens;
  engine.contextTokens += contextOf(one);
  engine.aheadTokens += aheadOf(one);
}

/** Frees the room of a chunk. */
export function vacate(state: DividedState, one: Request): Engine {
  const engine = state.engines.get(one.engineId!)!;
  engine.running.delete(one);
  engine.young.remove(one);
  engine.heldTokens -= contextOf(one) + one.chunkTokens;
  engine.contextTokens -= contextOf(one);
  engine.aheadTokens -= aheadOf(one);
  return engine;
}
