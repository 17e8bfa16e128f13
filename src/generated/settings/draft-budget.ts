// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `draft-budget`: its input and its plan. */

/** Input of `draft-budget`, as a caller writes it. */
export interface DraftBudgetInput {
  /** The sequences that the engine decodes together. */
  groups: {
    /** Sequences of the group. A whole number, 1 to 1,000,000. */
    sequences: number;
    /**
     * Tokens that each still generates, as predicted: drafts beyond its end count for nothing. A whole number, 1 to
     * 1,000,000,000,000.
     */
    remainingTokens?: number | undefined;
    /**
     * What a token of these sequences is worth beside a token of others. A number, 0 to 1,000,000,000,000.
     *
     * @defaultValue `1`
     */
    weight?: number | undefined;
  }[];
  /**
   * What was seen of acceptance, from the first drafted token on.
   *
   * @defaultValue `[]`
   */
  seen?:
    | {
        /** Drafts that had a token at this position; no more than at the position before. A number, 0 or more. */
        offered: number;
        /** How many of these tokens were accepted; no more than at the position before. A number, 0 or more. */
        accepted: number;
      }[]
    | undefined;
  /**
   * What is believed of acceptance before anything is seen.
   *
   * @defaultValue `{"acceptance":0.5,"tokens":20}`
   */
  prior?:
    | {
        /** Chance that a drafted token is accepted if those before it were. A number, 0 to 1. */
        acceptance: number;
        /**
         * Observations that this belief counts for, at each position. A number above 0 and at most 1,000,000,000,000.
         * In tokens.
         */
        tokens: number;
      }
    | undefined;
  /** Seconds of a decode step without drafts, at numbers of sequences; no larger step is planned. */
  passSeconds: {
    /** Tokens in the step, one for each sequence; more at each point. A whole number, 1 to 1,000,000,000,000. */
    tokens: number;
    /** Seconds of the step. A number above 0 and at most 1,000,000. */
    seconds: number;
  }[];
  /** What drafting costs. */
  drafter: {
    /**
     * Seconds that every step with drafts takes longer, however many: sampling, host, cache of the drafter. A number, 0
     * to 1,000,000.
     *
     * @defaultValue `0`
     */
    stepSeconds?: number | undefined;
    /** Seconds to draft one more token for all sequences: one pass of the drafter. A number, 0 to 1,000,000. */
    passSeconds: number;
    /**
     * Further seconds for each drafted token. A number, 0 to 1,000,000.
     *
     * @defaultValue `0`
     */
    secondsPerToken?: number | undefined;
  };
  /** Most tokens that the engine can draft for a sequence. A whole number, 0 to 64. */
  maxDraftTokens: number;
  /**
   * Whether the engine takes a budget for each sequence; otherwise all get the same.
   *
   * @defaultValue `false`
   */
  perSequence?: boolean | undefined;
  /**
   * Least gain, relative, for which anything is drafted: less is within the errors of measurement. A number, 0 to 1.
   *
   * @defaultValue `0.02`
   */
  margin?: number | undefined;
}

/** Input of `draft-budget`, its defaults filled in. */
export interface DraftBudgetSettings extends Pick<DraftBudgetInput, 'passSeconds' | 'maxDraftTokens'> {
  /** The sequences that the engine decodes together. */
  groups: {
    /** Sequences of the group. A whole number, 1 to 1,000,000. */
    sequences: number;
    /**
     * Tokens that each still generates, as predicted: drafts beyond its end count for nothing. A whole number, 1 to
     * 1,000,000,000,000.
     */
    remainingTokens?: number | undefined;
    /** What a token of these sequences is worth beside a token of others. A number, 0 to 1,000,000,000,000. */
    weight: number;
  }[];
  /** What was seen of acceptance, from the first drafted token on. */
  seen: {
    /** Drafts that had a token at this position; no more than at the position before. A number, 0 or more. */
    offered: number;
    /** How many of these tokens were accepted; no more than at the position before. A number, 0 or more. */
    accepted: number;
  }[];
  /** What is believed of acceptance before anything is seen. */
  prior: {
    /** Chance that a drafted token is accepted if those before it were. A number, 0 to 1. */
    acceptance: number;
    /**
     * Observations that this belief counts for, at each position. A number above 0 and at most 1,000,000,000,000. In
     * tokens.
     */
    tokens: number;
  };
  /** What drafting costs. */
  drafter: {
    /**
     * Seconds that every step with drafts takes longer, however many: sampling, host, cache of the drafter. A number, 0
     * to 1,000,000.
     */
    stepSeconds: number;
    /** Seconds to draft one more token for all sequences: one pass of the drafter. A number, 0 to 1,000,000. */
    passSeconds: number;
    /** Further seconds for each drafted token. A number, 0 to 1,000,000. */
    secondsPerToken: number;
  };
  /** Whether the engine takes a budget for each sequence; otherwise all get the same. */
  perSequence: boolean;
  /**
   * Least gain, relative, for which anything is drafted: less is within the errors of measurement. A number, 0 to 1.
   */
  margin: number;
}

/** Plan of `draft-budget`. */
export interface DraftBudgetPlan {
  /** Most tokens to draft for a sequence in a step; 0 turns speculation off. A whole number. */
  draftTokens: number;
  /** The budget of each group, in their order. */
  groups: {
    /** Tokens to draft for each sequence of the group. A whole number, 0 or more. */
    draftTokens: number;
    /** How many of its sequences get one token more; 0 unless `perSequence`. A whole number. */
    deeper: number;
  }[];
  /** Estimated chance that a draft is accepted up to its first token, its second, and so on. Each: a number, 0 to 1. */
  acceptance: number[];
  /** Tokens in the step: one for each sequence, and all drafted ones. A whole number, 0 or more. */
  passTokens: number;
  /** Tokens that a step is expected to generate, of all sequences. A number, 0 or more. */
  expectedTokens: number;
  /** Seconds of a step, drafting included. A number, 0 to 1,000,000. */
  stepSeconds: number;
  /** Weighted tokens per second, relative to no drafts; 1 if nothing is drafted. */
  speedup: number;
}
