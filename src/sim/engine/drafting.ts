/**
 * Speculative decoding in an engine. A step with k drafted tokens for each of b sequences verifies b · (k + 1) tokens. It gives
 * every sequence 1 + a + a² + … + aᵏ tokens, the expectation if each token is accepted with probability a after its predecessors.
 * The context is read once, as without drafts.
 *
 * With `planned`, k is a function of the batch, its context and the acceptance so far, so that the number of plans made does not
 * matter. The acceptance is read again whenever the number of drafts has doubled.
 */
import { runPlanner } from '../../core/machine/start.ts';
import { draftBudget } from '../../planners/draft-budget/index.ts';
import { baseSeconds, type CostModel, passBaseSeconds } from '../models/cost-model.ts';
import { type DraftSettings, expectedTokens } from '../models/draft-settings.ts';

/** Drafts offered at a position, and how many were accepted, in expectation. */
export interface SeenPosition {
  /** Drafts that were offered at the position. */
  offered: number;
  /** Accepted drafts among these. */
  accepted: number;
}

/** Number of drafts after which acceptance is first looked at. */
const firstLook = 8;
/** Possible error of a sum of expected tokens. */
const rounding = 1e-6;

/** Contexts with the same power of two are alike; returns the exponent plus one, or 0 without context. */
function classOf(contextOfEach: number): number {
  return 32 - Math.clz32(Math.floor(contextOfEach + rounding));
}

/** The drafts of one engine. */
export class Drafting {
  /** Observed acceptance by position. */
  readonly seen: SeenPosition[] = [];
  readonly #cost: CostModel;
  readonly #drafts: DraftSettings;
  #planned = new Map<number, number>();
  #nextLook = firstLook;

  constructor(cost: CostModel, drafts: DraftSettings) {
    this.#cost = cost;
    this.#drafts = drafts;
  }

  /** Returns the tokens to draft for each sequence of a batch. */
  tokensFor(size: number, contextTokens: number): number {
    const { tokens, maxTokens } = this.#drafts;
    if (typeof tokens === 'number') return tokens;
    if (size === 0) return 0;
    if (tokens !== 'planned') return Math.min(maxTokens, tokens.findLast(({ sequences }) => sequences <= size)!.tokens);
    const context = classOf(contextTokens / size);
    const key = size * 64 + context;
    let planned = this.#planned.get(key);
    if (planned === undefined) {
      planned = this.#plan(size, context === 0 ? 0 : 2 ** (context - 1));
      this.#planned.set(key, planned);
    }
    return planned;
  }

  /** Returns the tokens that a step gives a sequence, in expectation. */
  yieldOf(tokens: number): number {
    return expectedTokens(this.#drafts.acceptance, tokens);
  }

  /** Returns the seconds of a step without the share for the context. */
  secondsOf(size: number, tokens: number): number {
    if (tokens === 0) return baseSeconds(this.#cost, size);
    const { stepSeconds, passSeconds, secondsPerToken } = this.#drafts;
    const drafting = stepSeconds + tokens * passSeconds + size * tokens * secondsPerToken;
    return passBaseSeconds(this.#cost, size, size * (tokens + 1)) + drafting;
  }

  /** Returns the number of steps after which the plan for this batch may change. */
  stepsToLook(size: number, contextTokens: number, tokens: number): number {
    if (this.#drafts.tokens !== 'planned') return Number.POSITIVE_INFINITY;
    const contextOfEach = contextTokens / size;
    const context = Math.ceil((2 ** classOf(contextOfEach) - contextOfEach - rounding) / this.yieldOf(tokens));
    const drafts = tokens === 0 ? Infinity : Math.ceil((this.#nextLook - (this.seen[0]?.offered ?? 0)) / size);
    return Math.max(1, Math.min(context, drafts));
  }

  /** Counts completed steps. */
  observe(steps: number, size: number, tokens: number): void {
    let accepted = steps * size;
    for (let at = 0; at < tokens; at += 1) {
      accepted *= this.#drafts.acceptance;
      this.seen[at] ??= { offered: 0, accepted: 0 };
      this.seen[at]!.offered += steps * size;
      this.seen[at]!.accepted += accepted;
    }
    const offered = this.seen[0]?.offered ?? 0;
    if (offered < this.#nextLook) return;
    this.#nextLook = 2 * offered;
    this.#planned = new Map();
  }

  #plan(size: number, contextOfEach: number): number {
    const { maxTokens, believed, stepSeconds, passSeconds, secondsPerToken } = this.#drafts;
    const { memoryBoundSeconds, computeSecondsPerSequence, secondsPerContextToken } = this.#cost;
    const context = secondsPerContextToken * size * contextOfEach;
    const most = size * (maxTokens + 1);
    // Up to so many tokens the step is memory-bound; its seconds are linear on both sides.
    const knee = Math.floor(Math.min(most, memoryBoundSeconds / computeSecondsPerSequence));
    const points = [...new Set([1, knee, knee + 1, most])].filter((tokens) => tokens >= 1 && tokens <= most);
    return runPlanner(draftBudget, {
      groups: [{ sequences: size }],
      seen: this.seen,
      ...(believed === undefined ? {} : { prior: believed }),
      passSeconds: points
        .sort((a, b) => a - b)
        .map((tokens) => ({ tokens, seconds: passBaseSeconds(this.#cost, size, tokens) + context })),
      drafter: { stepSeconds, passSeconds, secondsPerToken },
      maxDraftTokens: maxTokens,
    }).draftTokens;
  }
}
