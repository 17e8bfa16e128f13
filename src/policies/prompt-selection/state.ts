/** The state of prompt-selection: the prompts that wait for their round, and what is known of prompts and domains. */
import { z } from 'zod';
import { LruMap } from '../../core/collections/lru.ts';
import { recentIds } from '../../core/ids/recent-ids.ts';
import { Histogram, savedHistogram } from '../../core/lengths/histogram.ts';
import { LengthPredictor, lengthPredictor } from '../../core/lengths/length-prediction.ts';
import { endOfScale, octave } from '../../core/lengths/scale.ts';
import type { Live } from '../../core/machine/definition.ts';
import { byHand, mapBy } from '../../core/machine/state.ts';
import type { PromptSelectionConfig } from '../../generated/settings/prompt-selection.ts';
import { prompt, promptChoice } from '../../schemas/prompts.ts';
import { count, domain, promptId, roundId, seconds, weightVersion } from '../../schemas/units.ts';

const sum = z.number().nonnegative();
/** Sums of rewards, in which older ones have less weight. */
const evidence = {
  responses: sum,
  sum: z.number(),
  squares: sum,
  groups: sum,
  differing: sum,
};

const remembered = z.strictObject({
  promptId,
  domain: domain.nullable(),
  ...evidence,
  /** The version of the weights until which the sums have lost weight. */
  version: weightVersion,
  /** Number of times in a row that the prompt was passed over. */
  passes: count,
  /** The epoch in which it was offered last. */
  epoch: count.nullable(),
  /** Chance with which it was taken last. */
  chance: z.number().min(0).max(1),
  /** The round whose lengths, and the round whose rewards, were learnt last. */
  measured: roundId.nullable(),
  learnt: roundId.nullable(),
});
/** What is known of a prompt. */
export interface Remembered extends z.output<typeof remembered> {}

const domainRecord = z.strictObject({
  domain: domain.nullable(),
  ...evidence,
  /** Prompts, and expected tokens of all their responses, in this epoch. */
  offered: count,
  selected: count,
  offeredTokens: sum,
  selectedTokens: sum,
});
/** What is known of a domain; `null` is that of prompts without one. */
export interface DomainRecord extends z.output<typeof domainRecord> {}

const taken = z.strictObject({ prompt, choice: promptChoice });
/** A prompt that was taken, and waits for its round. */
export interface Taken extends z.output<typeof taken> {}

const lengthShape = { low: 0, width: octave / 8, bins: (endOfScale * 8) / octave, limit: Number.POSITIVE_INFINITY };
const lengthsOfEpoch = byHand(savedHistogram, {
  decode: (saved) => new Histogram(lengthShape, saved),
  encode: (live) => live.save(),
});
/** Returns an empty histogram of expected lengths. */
export const noLengths = (): Histogram => new Histogram(lengthShape);

const memory = byHand(z.strictObject({ capacity: count, prompts: z.array(remembered) }), {
  decode: ({ capacity, prompts }) => {
    const map = new LruMap<string, Remembered>(capacity);
    for (const one of prompts) map.set(one.promptId, one);
    return map;
  },
  encode: (live) => ({ capacity: live.capacity, prompts: [...live].map(([, one]) => ({ ...one })) }),
});

export const selectionState = z.strictObject({
  /** Prompts that were taken, in the order in which rounds get them. */
  taken: mapBy((one) => one.prompt.promptId, taken),
  /** Prompts that were passed over, and are taken at the end of the epoch (`passedOver: last`). */
  last: mapBy((one) => one.prompt.promptId, taken),
  /** Sums over `taken` of the chances to be kept by a filter, and of the expected tokens of the least responses. */
  takenKept: sum,
  takenTokens: sum,
  /** The round that lacks prompts. */
  need: z
    .strictObject({
      roundId,
      /** Prompts that the round needs. */
      count,
      /** Prompts that were asked for and have not come. */
      awaited: count,
      /** When they were asked for, or the last portion came, in seconds. */
      askedAt: seconds,
      /** Prompts that were offered, and passed over, since the first request. */
      offered: count,
      passed: count,
      /** How many prompts in a row were here already. */
      repeats: count,
    })
    .nullable(),
  memory,
  domains: mapBy((one) => one.domain ?? '', domainRecord),
  lengths: lengthPredictor,
  /** Mean worth of prompts taken lately, and of how many it is the mean. */
  worth: z.strictObject({ mean: sum, prompts: count }),
  epoch: z.strictObject({
    number: count,
    offered: count,
    selected: count,
    offeredTokens: sum,
    selectedTokens: sum,
    offeredLengths: lengthsOfEpoch,
    selectedLengths: lengthsOfEpoch,
  }),
  weightVersion,
  recentRounds: recentIds(roundId),
  /** Number of requested rounds, which tells the responses of one epoch from those of another. */
  rounds: count,
  /** Number of draws so far. */
  draws: count,
  exhausted: z.boolean(),
});
export type SelectionState = Live<z.output<typeof selectionState>, PromptSelectionConfig>;
export type SavedSelection = z.input<typeof selectionState>;

/** Makes the initial state. */
export const begin = ({ rememberedPrompts }: PromptSelectionConfig): Partial<SavedSelection> => ({
  memory: { capacity: rememberedPrompts, prompts: [] },
  lengths: new LengthPredictor(rememberedPrompts).save(),
});
