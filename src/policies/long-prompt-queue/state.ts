/** The queue itself: deferred prompts, in two orders, and prompts that came back unused. */

import { z } from 'zod';
import { Fifo } from '../../core/fifo.ts';
import { Heap } from '../../core/heap.ts';
import { RecentIds } from '../../core/recent-ids.ts';
import { copyPrompt, type Prompt, prompt as promptSchema } from '../../schemas/prompts.ts';
import type { QueueConfig } from './schema.ts';

/** A deferred prompt. Entries are replaced, never changed: what is no longer in the map is passed over in the heaps. */
export interface Entry {
  readonly prompt: Prompt;
  readonly seq: number;
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
  readonly unused: Fifo<Prompt>;
  readonly recentRounds: RecentIds;
  rounds: number;
  seq: number;
  exhausted: boolean;
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
    unused: new Fifo(),
    recentRounds: new RecentIds(),
    rounds: 0,
    seq: 0,
    exhausted: false,
  };
}

/** Puts an entry in, in place of the one with the same prompt id if there is one. */
export function put(state: QueueState, entry: Entry): void {
  const { promptId, deferral } = entry.prompt;
  const { order, maxDeferrals } = state.config;
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

/** Takes up to `most` prompts that were handed back unused. */
export function takeUnused(state: QueueState, most: number): Prompt[] {
  const taken: Prompt[] = [];
  for (let next = state.unused.peek(); next !== undefined && taken.length < most; next = state.unused.peek()) {
    taken.push(state.unused.shift()!);
  }
  return taken;
}

export function save(state: QueueState): SavedQueue {
  const { rounds, seq, exhausted } = state;
  const recentRounds = [...state.recentRounds];
  const entries = [...state.entries.values()];
  return structuredClone({ entries, unused: [...state.unused], recentRounds, rounds, seq, exhausted });
}

export function load(saved: SavedQueue, config: QueueConfig): QueueState {
  const { entries, unused, recentRounds, ...rest } = structuredClone(saved);
  const state = { ...newQueue(config), ...rest, recentRounds: new RecentIds(recentRounds) };
  for (const entry of entries) put(state, entry);
  for (const one of unused) state.unused.push(one);
  return state;
}
