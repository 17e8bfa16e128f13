/** The state of round-composition: the window, the prompts before and after it, and what is known of lengths. */
import { z } from 'zod';
import type { Live } from '../../core/definition.ts';
import { Heap } from '../../core/heap.ts';
import { LengthPredictor, lengthPredictor } from '../../core/length-prediction.ts';
import { recentIds } from '../../core/recent-ids.ts';
import { derived, mapBy, setOf } from '../../core/state.ts';
import { type Prompt, prompt } from '../../schemas/prompts.ts';
import { count, roundId, weightVersion } from '../../schemas/units.ts';
import { roundSize } from './schema.ts';
import type { RoundCompositionConfig } from './types.ts';

const entry = z.strictObject({
  prompt,
  seq: count,
  /** Expected length, in tokens, of the longest of as many responses to this prompt as a round has. */
  expectedTokens: z.number(),
});
/** A prompt of the window. */
export interface Entry extends z.output<typeof entry> {}

const longestFirst = (a: Entry, b: Entry): number => b.expectedTokens - a.expectedTokens || a.seq - b.seq;

/** Schema of the state. */
export const compositionState = z.strictObject({
  /** Prompts that go into the next round: they have come back, or are left of the window before. */
  due: mapBy('promptId', prompt),
  /** Prompts of the window. No id is twice in `due` and `window` together, so that no round holds one twice. */
  window: mapBy((one) => one.prompt.promptId, entry),
  /** Prompts of later windows: more than were asked for, and those whose id is in `due` or `window`. */
  later: setOf(prompt),
  /** The round that waits for its prompts. */
  pending: z.strictObject({ roundId, weightVersion, awaited: count }).nullable(),
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
    later: [],
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

/** Returns the number of prompts from which the next rounds are composed. */
export function held({ due, window }: CompositionState): number {
  return due.size + window.size;
}

/** Returns the number of prompts that are still missing in the window. */
export function missing(state: CompositionState): number {
  return Math.max(0, state.config.windowRounds * roundSize(state.config) - held(state));
}

/** Returns the number of prompts to ask for: those of later windows are here already, and may be copies of what is in this one. */
export function wanted(state: CompositionState): number {
  return Math.max(0, missing(state) - state.later.size);
}

/** Begins a window: what is left of the one before is due, and prompts that wait for a later window enter this one. */
export function renew(state: CompositionState): void {
  for (let left = takeLongest(state); left !== undefined; left = takeLongest(state)) {
    state.due.set(left.prompt.promptId, left.prompt);
  }
  state.priorTokens = longestOf(state, { promptId: '' });
  for (const one of state.later) {
    if (missing(state) === 0) break;
    if (enter(state, one)) state.later.delete(one);
  }
}

/** Adds a prompt to the window, unless it is full, or the id is here already. */
function enter(state: CompositionState, one: Prompt): boolean {
  if (missing(state) === 0 || isHere(state, one)) return false;
  const entry = { prompt: one, seq: state.seq++, expectedTokens: expected(state, one) };
  state.window.set(one.promptId, entry);
  state.byLength.push(entry);
  return true;
}

/** Takes a prompt in, for this window or for a later one. */
export function takeIn(state: CompositionState, one: Prompt, isInTime: boolean): void {
  if (!isInTime || !enter(state, one)) state.later.add(one);
}

/** Makes a prompt due that has come back; while another with its id is here, that one goes first. */
export function putBack(state: CompositionState, one: Prompt): void {
  if (isHere(state, one)) state.later.add(one);
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
  return { prompts, due, longestTokens, shortestTokens };
}
