/** The state of round-composition: the window, the prompts before and after it, and what is known of lengths. */
import { z } from 'zod';
import type { Live } from '../../core/definition.ts';
import { Heap } from '../../core/heap.ts';
import { LengthPredictor, lengthPredictor } from '../../core/length-prediction.ts';
import { recentIds } from '../../core/recent-ids.ts';
import { derived, mapBy, setOf } from '../../core/state.ts';
import { type Prompt, prompt } from '../../schemas/prompts.ts';
import { count, promptId, roundId, weightVersion } from '../../schemas/units.ts';
import { roundSize } from './schema.ts';
import type { RoundCompositionConfig } from './types.ts';

const entry = z.strictObject({
  prompt,
  seq: count,
  /** Expected length, in tokens, of the longest of as many responses to this prompt as a round has. */
  expectedTokens: z.number(),
  /** Whether it waits for the long prompts of the next window. */
  isLast: z.boolean(),
});
/** A prompt of the window. */
export interface Entry extends z.output<typeof entry> {}

const longestFirst = (a: Entry, b: Entry): number =>
  Number(a.isLast) - Number(b.isLast) || b.expectedTokens - a.expectedTokens || a.seq - b.seq;

/** Schema of the state. */
export const compositionState = z.strictObject({
  /** Prompts that go into the next round: they have come back, are left of the window before, or had to wait for another copy. */
  due: mapBy('promptId', prompt),
  /** Prompts of the window. No id is twice in `due` and `window` together, so that no round holds one twice. */
  window: mapBy((one) => one.prompt.promptId, entry),
  /** Prompts whose id is in `due` or `window`: each is due when the copy before it is planned. */
  copies: setOf(prompt),
  /** Prompts of later windows. */
  later: setOf(prompt),
  /** Prompts that the window is to have; as many as it has once it is closed. */
  windowPrompts: count,
  /** Ids that have entered a window in this epoch, at most `rememberedPrompts`. */
  epoch: setOf(promptId),
  /** Prompts of the epoch before; 0 until one has ended. */
  epochPrompts: count,
  /** The round that waits for its prompts; whether it is the first of its window. */
  pending: z.strictObject({ roundId, weightVersion, awaited: count, isFirst: z.boolean() }).nullable(),
  /** What is expected of a prompt of which nothing is known: the same throughout a window, so that such prompts are ties. */
  priorTokens: z.number(),
  recentRounds: recentIds(roundId),
  /** Rounds that were requested: their number tells the responses of one epoch from those of another. */
  rounds: count,
  seq: count,
  exhausted: z.boolean(),
  lengths: lengthPredictor,
  /** The entries of `window`, longest first. */
  byLength: derived(() => new Heap<Entry>(longestFirst)),
});
/** The state of the policy. */
export type CompositionState = Live<z.output<typeof compositionState>, RoundCompositionConfig>;
/** The state as it is saved. */
export type SavedComposition = z.input<typeof compositionState>;

/** Makes the initial state. */
export function begin({ rememberedPrompts }: RoundCompositionConfig): SavedComposition {
  return {
    due: [],
    window: [],
    copies: [],
    later: [],
    windowPrompts: 0,
    epoch: [],
    epochPrompts: 0,
    pending: null,
    priorTokens: 0,
    recentRounds: [],
    rounds: 0,
    seq: 0,
    exhausted: false,
    lengths: new LengthPredictor(rememberedPrompts).save(),
  };
}

/** Sets the derived fields. */
export function link({ window, byLength }: CompositionState): void {
  for (const one of window.values()) byLength.push(one);
}

/** Returns the number of prompts from which the next round is composed. */
export function held({ due, window }: CompositionState): number {
  return due.size + window.size;
}

/** Returns the number of prompts that are here. */
export function waiting(state: CompositionState): number {
  return held(state) + state.copies.size + state.later.size;
}

/** Whether as many prompts are here as a round has. */
export function hasRound(state: CompositionState): boolean {
  return held(state) >= roundSize(state.config);
}

/** Returns the number of prompts to ask for. */
export function wanted(state: CompositionState): number {
  return Math.max(0, state.windowPrompts - waiting(state));
}

/** Begins a window: what is left of the one before is due, and prompts that wait for a later window enter this one. */
export function renew(state: CompositionState): void {
  makeDue(state);
  state.priorTokens = longestOf(state, { promptId: '' });
  resize(state);
  for (const one of state.later) {
    if (!enter(state, one)) break;
    state.later.delete(one);
  }
}

/** What is left of the window is due. */
function makeDue(state: CompositionState): void {
  for (let left = takeLongest(state); left !== undefined; left = takeLongest(state)) {
    state.due.set(left.prompt.promptId, left.prompt);
  }
}

/**
 * Where an epoch leaves too few prompts for a round, the longest are left, for they fit the first round of the next window; but where
 * nothing tells them from others, the last of the data are.
 */
export function leaveLongest(state: CompositionState): void {
  const { byLength } = state;
  const left = (held(state) + state.copies.size) % roundSize(state.config);
  const longest: Entry[] = [];
  while (longest.length < left && byLength.peek() !== undefined) longest.push(byLength.pop()!);
  const shortest = longest.at(-1);
  const isLast = shortest !== undefined && shortest.expectedTokens > (byLength.peek()?.expectedTokens ?? 0);
  for (const one of longest) {
    one.isLast = isLast;
    byLength.push(one);
  }
}

/** Sets the size of the window: W rounds, or fewer, so that windows are equal until the epoch is likely to end. */
function resize(state: CompositionState): void {
  const { config, epoch, epochPrompts } = state;
  const size = roundSize(config);
  const left = epochPrompts - epoch.size;
  // An epoch that has had as many prompts as the last one is over.
  const rounds = Math.ceil((held(state) + (left === 0 ? epochPrompts : left)) / size);
  const windows = Math.max(1, Math.ceil(rounds / config.windowRounds));
  state.windowPrompts = size * (epochPrompts === 0 || left < 0 ? config.windowRounds : Math.ceil(rounds / windows));
}

/** Takes a prompt into the window; false if it is for a later one. */
function enter(state: CompositionState, one: Prompt): boolean {
  const { epoch, config, copies, lengths } = state;
  if (hasRound(state) && held(state) + copies.size >= state.windowPrompts) return false;
  const { promptId } = one;
  // Where ids come again at random, it takes longer than until the first one to begin an epoch.
  if (epoch.has(promptId) && 2 * epoch.size >= lengths.size) {
    if (hasRound(state)) {
      // No window reaches beyond the end of an epoch.
      state.windowPrompts = 0;
      return false;
    }
    state.epochPrompts = epoch.size;
    epoch.clear();
    makeDue(state);
    resize(state);
  }
  if (epoch.size === config.rememberedPrompts) epoch.clear();
  epoch.add(promptId);
  if (isHere(state, one)) {
    copies.add(one);
    return true;
  }
  const entry = { prompt: one, seq: state.seq++, expectedTokens: expected(state, one), isLast: false };
  state.window.set(promptId, entry);
  state.byLength.push(entry);
  return true;
}

/** Takes a prompt in, for the window of the round that waits, or for a later one. */
export function takeIn(state: CompositionState, one: Prompt): void {
  if (state.pending === null || !enter(state, one)) state.later.add(one);
}

/** Makes a prompt due that has come back; while another with its id is here, that one goes first. */
export function putBack(state: CompositionState, one: Prompt): void {
  if (isHere(state, one)) state.copies.add(one);
  else state.due.set(one.promptId, one);
}

function isHere({ due, window }: CompositionState, { promptId }: Prompt): boolean {
  return due.has(promptId) || window.has(promptId);
}

function expected(state: CompositionState, { promptId, domain }: Prompt): number {
  const asked = { promptId, domain };
  return state.lengths.predict(asked, []).trust > 0 ? longestOf(state, asked) : state.priorTokens;
}

/** A round waits for the longest of all its responses: what counts is how long a response may become. */
function longestOf(
  { lengths, config }: CompositionState,
  asked: { promptId: string; domain?: string | undefined },
): number {
  return lengths.longest(asked, roundSize(config) * config.responsesPerPrompt);
}

function takeLongest({ window, byLength }: CompositionState): Entry | undefined {
  const entry = byLength.pop();
  if (entry !== undefined) window.delete(entry.prompt.promptId);
  return entry;
}

/** A round as it is composed. */
export interface Composed {
  readonly prompts: Prompt[];
  /** Prompts that were due; they come first. */
  readonly due: number;
  /** The longest and the shortest expected length of the others, in tokens; 0 if there are none. */
  readonly longestTokens: number;
  readonly shortestTokens: number;
}

/** Takes the prompts of a round: those that are due, then the longest of the window. */
export function takeRound(state: CompositionState): Composed {
  const size = roundSize(state.config);
  const prompts: Prompt[] = [];
  for (const one of state.due.values()) {
    if (prompts.length === size) break;
    state.due.delete(one.promptId);
    prompts.push(one);
  }
  const due = prompts.length;
  let longestTokens = 0;
  let shortestTokens = 0;
  while (prompts.length < size) {
    const entry = takeLongest(state);
    if (entry === undefined) break;
    if (prompts.length === due) longestTokens = entry.expectedTokens;
    shortestTokens = entry.expectedTokens;
    prompts.push(entry.prompt);
  }
  for (const one of state.copies) {
    if (isHere(state, one)) continue;
    state.copies.delete(one);
    state.due.set(one.promptId, one);
  }
  return { prompts, due, longestTokens, shortestTokens };
}
