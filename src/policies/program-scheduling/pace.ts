/**
 * What turns take, learnt from turns: a line through the last ones, by least squares. Reading a token of a context takes so long, and
 * a step takes so many times what the configuration says. The configuration counts as four turns, and older turns weigh less.
 */
import { z } from 'zod';
import type { ProgramSchedulingConfig } from '../../generated/settings/program-scheduling.ts';

const sum = z.number();
/** Schema of what was learnt. */
export const pace = z.strictObject({
  /** Sums over turns of products: of tokens read and seconds of decoding as configured, with each other and with the time taken. */
  readRead: sum,
  readDecode: sum,
  decodeDecode: sum,
  readTime: sum,
  decodeTime: sum,
  /** Tokens that a turn generates, and by which a context grows from turn to turn. */
  turnTokens: sum,
  growthTokens: sum,
  /** Tokens with which programs of different prompts begin alike, such as a system prompt. */
  commonTokens: sum.nonnegative(),
});
export type Pace = z.output<typeof pace>;

/** Returns what is assumed before any turn: an answer of 200 tokens, as many of a tool, and nothing that all programs share. */
export function newPace(): Pace {
  const sums = { readRead: 0, readDecode: 0, decodeDecode: 0, readTime: 0, decodeTime: 0 };
  return { ...sums, turnTokens: 200, growthTokens: 400, commonTokens: 0 };
}

/** Part of the weight of a turn that is left when the next one has ended. */
const retention = 63 / 64;
/** Turns as which the configuration counts, each with 1000 tokens read and a second of decoding. */
const prior = { turns: 4, tokens: 1000 };
/** What was learnt is at most so many times what is configured, or less. */
const farthest = 32;

/** Learns from a turn that has read these tokens, was to decode for so long as configured, and has taken so many seconds. */
export function learnTurn(one: Pace, readTokens: number, decodeSeconds: number, seconds: number): void {
  one.readRead = retention * one.readRead + readTokens * readTokens;
  one.readDecode = retention * one.readDecode + readTokens * decodeSeconds;
  one.decodeDecode = retention * one.decodeDecode + decodeSeconds * decodeSeconds;
  one.readTime = retention * one.readTime + readTokens * seconds;
  one.decodeTime = retention * one.decodeTime + decodeSeconds * seconds;
}

/** Moves an average towards the value of a turn. */
export const averaged = (average: number, value: number): number => retention * average + (1 - retention) * value;

/** Seconds to read a token, and the factor by which steps are slower than configured. */
export interface Rates {
  readonly readSeconds: number;
  readonly decodeFactor: number;
}

/** Returns what was learnt. */
export function ratesOf(one: Pace, { prefillTokensPerSecond }: ProgramSchedulingConfig): Rates {
  const configured = 1 / prefillTokensPerSecond;
  const { turns, tokens } = prior;
  const readRead = one.readRead + turns * tokens * tokens;
  const decodeDecode = one.decodeDecode + turns;
  const readTime = one.readTime + turns * tokens * tokens * configured;
  const decodeTime = one.decodeTime + turns;
  const determinant = readRead * decodeDecode - one.readDecode * one.readDecode;
  const bounded = (value: number, around: number) => Math.min(farthest * around, Math.max(around / farthest, value));
  return {
    readSeconds: bounded((readTime * decodeDecode - decodeTime * one.readDecode) / determinant, configured),
    decodeFactor: bounded((decodeTime * readRead - readTime * one.readDecode) / determinant, 1),
  };
}
