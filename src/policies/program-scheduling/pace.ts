/**
 * Learns from turns how long turns take: a line through the latest turns, by least squares. The two results are the seconds to
 * read a context token, and the ratio of a step's time to the configured time. The configuration counts as four turns, and older
 * turns weigh less.
 */
import { z } from 'zod';
import type { ProgramSchedulingConfig } from '../../generated/settings/program-scheduling.ts';

const sum = z.number();
export const pace = z.strictObject({
  /** Sums of products over turns: tokens read, configured decoding seconds, and time taken. */
  readRead: sum,
  readDecode: sum,
  decodeDecode: sum,
  readTime: sum,
  decodeTime: sum,
  /** Mean tokens that a turn generates, and mean growth of a context from turn to turn. */
  turnTokens: sum,
  growthTokens: sum,
  /** Tokens at the beginning that programs of different prompts share, such as a system prompt. */
  commonTokens: sum.nonnegative(),
});
export type Pace = z.output<typeof pace>;

/** Returns the assumptions before any turn: an answer of 200 tokens, as many tokens from a tool, and no common tokens. */
export function newPace(): Pace {
  const sums = { readRead: 0, readDecode: 0, decodeDecode: 0, readTime: 0, decodeTime: 0 };
  return { ...sums, turnTokens: 200, growthTokens: 400, commonTokens: 0 };
}

/** Each turn multiplies the weight of earlier turns by this factor. */
const retention = 63 / 64;
/** Turns as which the configuration counts, each with 1000 tokens read and a second of decoding. */
const prior = { turns: 4, tokens: 1000 };
/** Learnt values differ from the configured ones at most by this factor. */
const farthest = 32;

/** Learns from a turn that has read so many tokens, should have decoded for the configured time, and has taken so many seconds. */
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

/** Returns the learnt rates. */
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
