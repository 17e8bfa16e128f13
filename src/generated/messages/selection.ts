// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: selection. */
import type { Because, Prompt, PromptChoice, Stamped } from './objects.ts';

/**
 * All prompts of the data were offered once: what was taken, and what was passed over.
 *
 * Notice `epoch.ended`.
 */
export interface EpochEnded extends Stamped<'epoch.ended'> {
  /** Ordinal of the epoch, from 0. A whole number. */
  epoch: number;
  /** Prompts that were offered. A whole number, 0 or more. */
  offered: number;
  /** Of them: prompts that were taken. A whole number, 0 or more. */
  selected: number;
  /** The same by domain, in the order in which the domains came first. */
  domains: {
    /** The domain; absent: prompts without one, or beyond the 64th. At most 512 characters. */
    domain?: string | undefined;
    /** Prompts that were offered. A whole number, 0 or more. */
    offered: number;
    /** Of them: prompts that were taken. A whole number, 0 or more. */
    selected: number;
    /** Tokens that the responses to all of its offered prompts were expected to have. A number, 0 or more. */
    offeredTokens: number;
    /** The same, of the prompts that were taken. A number, 0 or more. In tokens. */
    selectedTokens: number;
  }[];
  /** Prompts among those offered whose expected length is in the longest 1 %. A whole number, 0 or more. */
  longestOffered: number;
  /** Of them: prompts that were taken. A whole number, 0 or more. */
  longestSelected: number;
  /** Why, with the numbers. */
  reason: Because<'source_exhausted' | 'offered_again'>['reason'];
}

/**
 * These prompts are not rolled out now: offer them again in the next epoch.
 *
 * Notice `prompts.passed`.
 */
export interface PromptsPassed extends Stamped<'prompts.passed'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** The prompts, in order. */
  prompts: Prompt[];
  /** What was expected of each of them, in the same order. */
  choices: PromptChoice[];
  /** Why, with the numbers. */
  reason: Because<'low_worth', {
    /** Worth from which a prompt is taken for certain. */
    threshold: number;
  }>['reason'];
}

/**
 * Roll out these prompts, each with so many responses.
 *
 * Notice `prompts.selected`.
 */
export interface PromptsSelected extends Stamped<'prompts.selected'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** The prompts, in order. */
  prompts: Prompt[];
  /** What was expected of each of them, in the same order. */
  choices: PromptChoice[];
  /** Why, with the numbers. */
  reason: Because<'filled' | 'source_exhausted' | 'only_duplicates', {
    /** Prompts that were offered for the round. A whole number, 0 or more. */
    offered: number;
    /** Of them: prompts that were passed over. A whole number, 0 or more. */
    passed: number;
    /** Mean worth of the prompts that were taken lately; 0 while none is known. */
    meanWorth: number;
  }>['reason'];
}
