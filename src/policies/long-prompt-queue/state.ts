/** The state of long-prompt-queue: deferred prompts, in two orders, and prompts that were returned unused. */

import { z } from 'zod';
import { Heap } from '../../core/collections/heap.ts';
import { recentIds } from '../../core/ids/recent-ids.ts';
import type { Live } from '../../core/machine/definition.ts';
import { derived, mapBy, setOf } from '../../core/machine/state.ts';
import { copyPrompt, isExpiring, oldestVersionOf } from '../../core/rollout/prompts.ts';
import type { LongPromptQueueConfig } from '../../generated/settings/long-prompt-queue.ts';
import { type KeptResponse, type Prompt, prompt } from '../../schemas/prompts.ts';
import { count, domain, promptId, roundId } from '../../schemas/units.ts';

const entry = z.strictObject({ prompt, seq: count });
/** A deferred prompt. Entries are replaced, never changed: heaps skip an entry that is no longer in the map. */
export interface Entry extends Readonly<z.output<typeof entry>> {}

const since = ({ prompt }: Entry): number => prompt.deferral?.sinceRound ?? 0;
const byAge = (a: Entry, b: Entry): number => since(a) - since(b) || a.seq - b.seq;
const byVersion = (a: Entry, b: Entry): number =>
  oldestVersionOf(a.prompt) - oldestVersionOf(b.prompt) || a.seq - b.seq;
const byLength = (a: Entry, b: Entry): number =>
  (b.prompt.expectedTokens ?? 0) - (a.prompt.expectedTokens ?? 0) || byAge(a, b);

export const queueState = z.strictObject({
  entries: mapBy((one) => one.prompt.promptId, entry),
  /** Prompts that were handed back unused; they go into the next round. A prompt is either here or in `entries`, once. */
  unused: mapBy('promptId', prompt),
  recentRounds: recentIds(roundId),
  /** The latest planned round, until it is completed. */
  openRound: roundId.nullable(),
  rounds: count,
  seq: count,
  exhausted: z.boolean(),
  exhaustedDomains: setOf(domain),
  /** Prompts that continue to run in the next round. */
  carried: setOf(promptId),
  /** Entries, oldest first: by the round of the first deferral, then by arrival. */
  byAge: derived(() => new Heap<Entry>(byAge)),
  /** Entries, longest expected response first, then oldest; not used with `order: fifo`. */
  byLength: derived(() => new Heap<Entry>(byLength)),
  /** Entries with kept tokens, oldest weights first; only with `maxStaleness`. */
  byVersion: derived(() => new Heap<Entry>(byVersion)),
  /** Entries deferred `maxDeferrals` times or more, oldest first. */
  tooOften: derived(() => new Heap<Entry>(byAge)),
  /** Complete responses that prompts keep and that lack a reward. */
  unrewarded: derived(() => new Map<string, KeptResponse>()),
});
export type QueueState = Live<z.output<typeof queueState>, LongPromptQueueConfig>;
export type SavedQueue = z.input<typeof queueState>;

/** Adds the open round, which version 4 has. A round that is open is unknown, and gets nothing from the queue. */
export const migrateFromThree = (saved: unknown): SavedQueue => ({ ...(saved as SavedQueue), openRound: null });

export function link(state: QueueState): void {
  for (const one of state.entries.values()) index(state, one);
  for (const one of state.unused.values()) hold(state, one);
}

/** Indexes the kept responses of a prompt, so that rewards find them while the prompt is here. */
function hold({ unrewarded }: QueueState, { kept = [] }: Prompt): void {
  for (const one of kept) if (one.finished && one.reward === undefined) unrewarded.set(one.requestId, one);
}

function release({ unrewarded }: QueueState, { kept = [] }: Prompt): void {
  for (const one of kept) if (unrewarded.get(one.requestId) === one) unrewarded.delete(one.requestId);
}

/** Whether a waiting prompt keeps a response with this id that lacks a reward. */
export function awaitsReward({ unrewarded }: QueueState, { requestId }: { readonly requestId: string }): boolean {
  return unrewarded.has(requestId);
}

/** Stores the reward of a kept response, so that it is not requested again when the prompt comes back. */
export function reward({ unrewarded }: QueueState, requestId: string, value: number): void {
  unrewarded.get(requestId)!.reward = value;
  unrewarded.delete(requestId);
}

/** Adds an entry, which replaces an entry with the same prompt id. */
export function put(state: QueueState, entry: Entry): void {
  const { promptId } = entry.prompt;
  const before = state.entries.get(promptId);
  if (before !== undefined) release(state, before.prompt);
  state.entries.set(promptId, entry);
  index(state, entry);
}

/** Adds an entry to the heaps by age and length, and to the index by which rewards find its responses. */
function index(state: QueueState, entry: Entry): void {
  const { order, maxDeferrals, maxStaleness } = state.config;
  hold(state, entry.prompt);
  state.byAge.push(entry);
  if (maxStaleness > 0 && entry.prompt.kept !== undefined) state.byVersion.push(entry);
  if (order !== 'fifo') state.byLength.push(entry);
  if ((entry.prompt.deferral?.count ?? 0) >= (maxDeferrals ?? Number.POSITIVE_INFINITY)) state.tooOften.push(entry);
}

function isIn(state: QueueState, entry: Entry): boolean {
  return state.entries.get(entry.prompt.promptId) === entry;
}

/** Returns the first entry of a heap that is still in the queue. */
function top(state: QueueState, heap: Heap<Entry>): Entry | undefined {
  while (heap.size > 0 && !isIn(state, heap.peek()!)) heap.pop();
  return heap.peek();
}

/** Returns the prompt that has waited too long, or was deferred too often, and by how much; oldest first. */
export function overdue(state: QueueState): { entry: Entry; waitedRounds: number } | undefined {
  const { maxWaitRounds } = state.config;
  const oldest = top(state, state.byAge);
  const waited = (entry: Entry): number => Math.max(0, state.rounds - since(entry));
  if (oldest !== undefined && waited(oldest) >= maxWaitRounds) return { entry: oldest, waitedRounds: waited(oldest) };
  const entry = top(state, state.tooOften);
  return entry && { entry, waitedRounds: waited(entry) };
}

/** Takes up to `most` prompts whose tokens would be too old in a round with newer weights, the oldest first. */
export function takeExpiring(state: QueueState, most: number, weightVersion: number): Prompt[] {
  const taken: Prompt[] = [];
  const { byVersion: heap, config } = state;
  for (let next = top(state, heap); next !== undefined && taken.length < most; next = top(state, heap)) {
    if (!isExpiring(oldestVersionOf(next.prompt), weightVersion, config.maxStaleness)) break;
    taken.push(take(state, next));
  }
  return taken;
}

/** Takes an entry out; a copy of its prompt is needed, because the heaps may still hold the entry. */
function take(state: QueueState, { prompt }: Entry): Prompt {
  state.entries.delete(prompt.promptId);
  release(state, prompt);
  return copyPrompt(prompt);
}

/** Returns the next entry: overdue ones first, then in the configured order. */
function nextOf(state: QueueState): Entry | undefined {
  return overdue(state)?.entry ?? top(state, state.config.order === 'fifo' ? state.byAge : state.byLength);
}

/** Takes up to `most` deferred prompts. */
export function takeDeferred(state: QueueState, most: number): Prompt[] {
  const taken: Prompt[] = [];
  while (taken.length < most) {
    const entry = nextOf(state);
    if (entry === undefined) break;
    taken.push(take(state, entry));
  }
  return taken;
}

/** Adds a prompt after those that were handed back unused; a prompt that is among them already keeps its place. */
export function putUnused(state: QueueState, prompt: Prompt): void {
  const before = state.unused.get(prompt.promptId);
  if (before !== undefined) release(state, before);
  hold(state, prompt);
  state.unused.set(prompt.promptId, prompt);
}

/** Removes a prompt from those that were handed back unused. */
export function removeUnused(state: QueueState, prompt: Prompt): void {
  release(state, prompt);
  state.unused.delete(prompt.promptId);
}

/** Takes up to `most` prompts that were handed back unused. */
export function takeUnused(state: QueueState, most: number): Prompt[] {
  const taken: Prompt[] = [];
  for (const prompt of state.unused.values()) {
    if (taken.length >= most) break;
    removeUnused(state, prompt);
    taken.push(prompt);
  }
  return taken;
}
