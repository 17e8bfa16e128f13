/** A measured point of an engine: how long it takes for a token of each sequence, at one load. */
import { z } from 'zod';
import { parse } from '../../core/machine/validate.ts';
import { type CostModel, passBaseSeconds, secondsOfPrefill } from '../models/cost-model.ts';
import type { EngineCosts } from '../silicon/served-model.ts';

/** Schema of a measured point. */
export const decodePointSchema = z.strictObject({
  running: z.number().min(1).max(1e6).describe('Sequences that decode at once on the engine, as a mean.'),
  contextTokens: z
    .number()
    .nonnegative()
    .max(1e7)
    .describe('Tokens of context of a sequence, prompt included, as a mean.'),
  secondsPerToken: z
    .number()
    .positive()
    .max(3600)
    .describe('Seconds between two tokens of a sequence (TPOT, inter-token latency), as a mean.'),
  prefillTokens: z
    .number()
    .nonnegative()
    .default(0)
    .describe('Tokens of prompts that the engine computes meanwhile, per generated token of a sequence.'),
});

/** Schema of a file of measured points. */
export const calibrationPointsSchema = z.strictObject({ points: z.array(decodePointSchema).min(1) });

/** A measured point as a caller writes it. */
export type DecodePointInput = z.input<typeof decodePointSchema>;
/** A measured point. */
export type DecodePoint = z.output<typeof decodePointSchema>;

/** Checks measured points. Throws `PolicyError` `invalid_input` with the path of the bad field. */
export const decodePoints = (points: readonly DecodePointInput[]): DecodePoint[] =>
  parse(z.array(decodePointSchema).min(1), points, 'invalid_input');

/** Seconds per token by what they are for: each of these can be faster or slower on an engine than in the time model. */
export interface SecondsByPart {
  /** Weights, or arithmetic where it binds, and what a step costs however many sequences it has. */
  readonly fixed: number;
  /** What each sequence costs, and the reading of its KV cache. */
  readonly sequence: number;
  /** By which the prefills of others delay a token. */
  readonly prefill: number;
}

/** Returns the seconds per token of an engine with these costs at a load, by part. */
export function partsOf(cost: CostModel, { running, contextTokens, prefillTokens }: DecodePoint): SecondsByPart {
  const prefill = secondsOfPrefill(cost, 1) * prefillTokens;
  return stepParts(cost, running, contextTokens, cost.prefillInterference * running * prefill);
}

/** Returns the seconds of a step by part, with the seconds by which prefills delay it. */
export function stepParts(
  cost: EngineCosts,
  running: number,
  contextTokens: number,
  prefillSeconds: number,
): SecondsByPart {
  const perSequence = running * cost.secondsPerSequence;
  return {
    fixed: passBaseSeconds(cost, running, running) - perSequence,
    sequence: perSequence + running * contextTokens * cost.secondsPerContextToken,
    prefill: prefillSeconds,
  };
}
