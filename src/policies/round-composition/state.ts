/** The state of round-composition: the window, the prompts before and after it, and what is known of lengths. */
import { z } from 'zod';
import { Heap } from '../../core/collections/heap.ts';
import { recentIds } from '../../core/ids/recent-ids.ts';
import { LengthPredictor, lengthPredictor } from '../../core/lengths/length-prediction.ts';
import type { Live } from '../../core/machine/definition.ts';
import { derived, mapBy, setOf } from '../../core/machine/state.ts';
import type { RoundCompositionConfig } from '../../generated/settings/round-composition.ts';
import { prompt } from '../../schemas/prompts.ts';
import { count, promptId, roundId, weightVersion } from '../../schemas/units.ts';
import { roundSize } from './schema.ts';

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
