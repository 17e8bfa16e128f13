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
  /** Expected length, in tokens, of the longest among this prompt's responses in a round. */
  expectedTokens: z.number(),
  /** Whether the prompt waits for the long prompts of the next window. */
  isLast: z.boolean(),
});
/** A prompt of the window. */
export interface Entry extends z.output<typeof entry> {}

const longestFirst = (a: Entry, b: Entry): number =>
  Number(a.isLast) - Number(b.isLast) || b.expectedTokens - a.expectedTokens || a.seq - b.seq;

export const compositionState = z.strictObject({
  /** Prompts for the next round: they have come back, are left over from the previous window, or had to wait for another copy. */
  due: mapBy('promptId', prompt),
  /** Prompts of the window. No id occurs twice in `due` and `window` together, so that no round has an id twice. */
  window: mapBy((one) => one.prompt.promptId, entry),
  /** Prompts whose id is also in `due` or `window`: such a copy becomes due when the copy before it is planned. */
  copies: setOf(prompt),
  /** Prompts for later windows. */
  later: setOf(prompt),
  /** Number of prompts that the window is to have; once it is closed, the number that it has. */
  windowPrompts: count,
  /** Ids that have entered a window during this epoch, at most `rememberedPrompts`. */
  epoch: setOf(promptId),
  /** Number of prompts in the previous epoch; 0 during the first one. */
  epochPrompts: count,
  /** The round that waits for its prompts, and whether it is the first round of its window. */
  pending: z.strictObject({ roundId, weightVersion, awaited: count, isFirst: z.boolean() }).nullable(),
  /** Expected length for unknown prompts. It stays the same throughout a window, so that such prompts are ties. */
  priorTokens: z.number(),
  recentRounds: recentIds(roundId),
  /** Number of requested rounds, which tells the responses of one epoch from those of another. */
  rounds: count,
  seq: count,
  exhausted: z.boolean(),
  lengths: lengthPredictor,
  /** The entries of `window`, longest first. */
  byLength: derived(() => new Heap<Entry>(longestFirst)),
});
export type CompositionState = Live<z.output<typeof compositionState>, RoundCompositionConfig>;
export type SavedComposition = z.input<typeof compositionState>;

/** Makes the initial state. */
export const begin = ({ rememberedPrompts }: RoundCompositionConfig): Partial<SavedComposition> => ({
  lengths: new LengthPredictor(rememberedPrompts).save(),
});

export function link({ window, byLength }: CompositionState): void {
  for (const one of window.values()) byLength.push(one);
}

/** Returns the number of prompts that the next round may be composed from. */
export function held({ due, window }: CompositionState): number {
  return due.size + window.size;
}

/** Returns the number of prompts that are here. */
export function waiting(state: CompositionState): number {
  return held(state) + state.copies.size + state.later.size;
}

/** Whether there are enough prompts for a round. */
export function hasRound(state: CompositionState): boolean {
  return held(state) >= roundSize(state.config);
}

/** Returns the number of prompts to ask for. */
export function wanted(state: CompositionState): number {
  return Math.max(0, state.windowPrompts - waiting(state));
}
