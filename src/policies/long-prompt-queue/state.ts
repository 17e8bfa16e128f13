/** The queue itself: deferred prompts, in two orders, and prompts that came back unused. */

import { z } from 'zod';
import { Heap } from '../../core/heap.ts';
import { LinkedList } from '../../core/linked-list.ts';
import { RecentIds } from '../../core/recent-ids.ts';
import { copyPrompt, type KeptResponse, type Prompt, prompt as promptSchema } from '../../schemas/prompts.ts';
import type { QueueConfig } from './schema.ts';

/** A deferred prompt. Entries are replaced, never changed: what is no longer in the map is passed over in the heaps. */
export interface Entry {
  readonly prompt: Prompt;
  readonly seq: number;
}

/** A prompt that was handed back unused. */
export interface Unused {
  prompt: Prompt;
  previous: Unused | null;
  next: Unused | null;
}

export interface QueueState {
  readonly config: QueueConfig;
  readonly entries: Map<string, Entry>;
  /** Oldest first: by the round of the first deferral, then by arrival. */
  readonly byAge: Heap<Entry>;
  /** Longest expected response first, then oldest; unused with `order: fifo`. */
  readonly byLength: Heap<Entry>;
  /** Entries deferred `maxDeferrals` times or more, oldest first. */
  readonly tooOften: Heap<Entry>;
  /** Prompts that were handed back unused; they go into the next round. */
  readonly unused: LinkedList<Unused>;
  /** The same by their ids; a prompt is here or in `entries`, once. */
  readonly unusedById: Map<string, Unused>;
  /** Complete responses that prompts keep and that have no reward yet. */
  readonly unrewarded: Map<string, KeptResponse>;
  /** Prompts that run on into the next round. */
  readonly carried: Set<string>;
  readonly recentRounds: RecentIds;
  rounds: number;
  seq: number;
  exhausted: boolean;
  readonly exhaustedDomains: Set<string>;
}

const whole = z.int().nonnegative();

/** Schema of the saved state. */
export const queueSnapshot = z.strictObject({
  entries: z.array(z.strictObject({ prompt: promptSchema, seq: whole })),
  unused: z.array(promptSchema),
  recentRounds: z.array(z.string()),
  rounds: whole,
  seq: whole,
  exhausted: z.boolean(),
  exhaustedDomains: z.array(z.string()),
  carried: z.array(z.string()),
});
export type SavedQueue = z.output<typeof queueSnapshot>;

const since = (entry: Entry): number => entry.prompt.deferral?.sinceRound ?? 0;
const byAge = (a: Entry, b: Entry): number => since(a) - since(b) || a.seq - b.seq;
const byLength = (a: Entry, b: Entry): number =>
  (b.prompt.expectedTokens ?? 0) - (a.prompt.expectedTokens ?? 0) || byAge(a, b);

export function newQueue(config: QueueConfig): QueueState {
  return {
    config,
    entries: new Map(),
    byAge: new Heap(byAge),
    byLength: new Heap(byLength),
    tooOften: new Heap(byAge),
    unused: new LinkedList(),
    unusedById: new Map(),
    unrewarded: new Map(),
    carried: new Set(),
    recentRounds: new RecentIds(),
    rounds: 0,
    seq: 0,
    exhausted: false,
    exhaustedDomains: new Set(),
  };
}

/** Rewards find what a prompt keeps, as long as it is here. */
function hold({ unrewarded }: QueueState, { kept = [] }: Prompt): void {
  for (const one of kept) if (one.finished && one.reward === undefined) unrewarded.set(one.requestId, one);
}

function release({ unrewarded }: QueueState, { kept = [] }: Prompt): void {
  for (const one of kept) if (unrewarded.get(one.requestId) === one) unrewarded.delete(one.requestId);
}

/** Whether a prompt that waits here keeps a response with this id that has no reward yet. */
export function awaitsReward({ unrewarded }: QueueState, requestId: string): boolean {
  return unrewarded.has(requestId);
}

/** Gives a response that is kept here its reward: it is not asked for again when its prompt comes back. */
export function reward({ unrewarded }: QueueState, requestId: string, value: number): void {
  unrewarded.get(requestId)!.reward = value;
  unrewarded.delete(requestId);
}

/** Puts an entry in, in place of the one with the same prompt id if there is one. */
export function put(state: QueueState, entry: Entry): void {
  const { promptId, deferral } = entry.prompt;
  const { order, maxDeferrals } = state.config;
  const before = state.entries.get(promptId);
  if (before !== undefined) release(state, before.prompt);
  hold(state, entry.prompt);
  state.entries.set(promptId, entry);
  state.byAge.push(entry);
  if (order !== 'fifo') state.byLength.push(entry);
  if ((deferral?.count ?? 0) >= (maxDeferrals ?? Number.POSITIVE_INFINITY)) state.tooOften.push(entry);
}

function isIn(state: QueueState, entry: Entry): boolean {
  return state.entries.get(entry.prompt.promptId) === entry;
}

/** The first entry of a heap that is still in the queue. */
function top(state: QueueState, heap: Heap<Entry>): Entry | undefined {
  while (heap.size > 0 && !isIn(state, heap.peek()!)) heap.pop();
  return heap.peek();
}

/** The prompt that has waited too long, or was deferred too often, and by how much; oldest first. */
export function overdue(state: QueueState): { entry: Entry; waitedRounds: number } | undefined {
  const { maxWaitRounds } = state.config;
  const oldest = top(state, state.byAge);
  const waited = (entry: Entry): number => Math.max(0, state.rounds - since(entry));
  if (oldest !== undefined && waited(oldest) >= maxWaitRounds) return { entry: oldest, waitedRounds: waited(oldest) };
  const entry = top(state, state.tooOften);
  return entry && { entry, waitedRounds: waited(entry) };
}

/** Takes the entry that is due next: overdue ones first, then by the order configured. */
function takeNext(state: QueueState): Entry | undefined {
  const entry = overdue(state)?.entry ?? top(state, state.config.order === 'fifo' ? state.byAge : state.byLength);
  if (entry === undefined) return undefined;
  state.entries.delete(entry.prompt.promptId);
  release(state, entry.prompt);
  return entry;
}

/** Takes up to `most` deferred prompts. */
export function takeDeferred(state: QueueState, most: number): Prompt[] {
  const taken: Prompt[] = [];
  while (taken.length < most) {
    const entry = takeNext(state);
    if (entry === undefined) break;
    // A copy: the heaps may still hold the entry.
    taken.push(copyPrompt(entry.prompt));
  }
  return taken;
}

/** Puts a prompt behind those that were handed back unused. */
export function putUnused(state: QueueState, prompt: Prompt): void {
  const one: Unused = { prompt, previous: null, next: null };
  hold(state, prompt);
  state.unused.push(one);
  // A snapshot may hold a prompt twice, from a time when that could be.
  if (!state.unusedById.has(prompt.promptId)) state.unusedById.set(prompt.promptId, one);
}

/** Takes one of them out. */
export function removeUnused(state: QueueState, one: Unused): void {
  const { promptId } = one.prompt;
  release(state, one.prompt);
  state.unused.remove(one);
  if (state.unusedById.get(promptId) === one) state.unusedById.delete(promptId);
}

/** Puts what is known of a prompt that is here in place of what was known before. */
export function replaceUnused(state: QueueState, one: Unused, prompt: Prompt): void {
  release(state, one.prompt);
  hold(state, prompt);
  one.prompt = prompt;
}

/** Takes up to `most` prompts that were handed back unused. */
export function takeUnused(state: QueueState, most: number): Prompt[] {
  const taken: Prompt[] = [];
  for (let next = state.unused.peek(); next !== undefined && taken.length < most; next = state.unused.peek()) {
    removeUnused(state, next);
    taken.push(next.prompt);
  }
  return taken;
}

export function save(state: QueueState): SavedQueue {
  const { rounds, seq, exhausted } = state;
  const [exhaustedDomains, carried] = [[...state.exhaustedDomains].sort(), [...state.carried]];
  const recentRounds = [...state.recentRounds];
  const entries = [...state.entries.values()];
  const unused: Prompt[] = [];
  for (let one = state.unused.peek() ?? null; one !== null; one = one.next) unused.push(one.prompt);
  return structuredClone({ entries, unused, recentRounds, rounds, seq, exhausted, exhaustedDomains, carried });
}

export function load(saved: SavedQueue, config: QueueConfig): QueueState {
  const { entries, unused, recentRounds, exhaustedDomains, carried, ...rest } = structuredClone(saved);
  const state = {
    ...newQueue(config),
    ...rest,
    recentRounds: new RecentIds(recentRounds),
    exhaustedDomains: new Set(exhaustedDomains),
    carried: new Set(carried),
  };
  for (const entry of entries) put(state, entry);
  for (const one of unused) putUnused(state, one);
  return state;
}

/**
 * Version 1 knew nothing of carried prompts and of domains: to be sure, one is taken to be carried, so that a round is
 * planned before the source is drained. Whatever else it says is left for the check of the state to refuse, with its path.
 */
export function migrateFromOne(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given;
  return { ...given, exhaustedDomains: [], carried: ['unknown'] };
}
