// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: rounds. */
import type { FinalPrompt, Prompt } from './objects.ts';

/**
 * Prompts that were asked for, in portions of any size.
 *
 * Event `prompts.supplied`.
 */
export interface PromptsSupplied {
  /** Which event or decision it is. */
  type: 'prompts.supplied';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** In any number and order; one that is here already is merged. */
  prompts: Prompt[];
}

/**
 * The open round is given up by the host: nothing of it was trained.
 *
 * Event `round.failed`.
 */
export interface RoundFailed {
  /** Which event or decision it is. */
  type: 'round.failed';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** What went wrong, for operators. At most 2,000 characters. */
  message?: string | undefined;
}

/**
 * A rollout round begins with these prompts; what is missing is asked for.
 *
 * Event `round.opened`.
 */
export interface RoundOpened {
  /** Which event or decision it is. */
  type: 'round.opened';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** `short`: with speculation; `long`: without. */
  kind: 'short' | 'long';
  /** Version of the actor weights; never decreases. A whole number, >= 0. */
  weightVersion: number;
  /** Prompts that it begins with, in order. */
  prompts: Prompt[];
}

/**
 * The host is ready to begin a rollout round.
 *
 * Event `round.requested`.
 */
export interface RoundRequested {
  /** Which event or decision it is. */
  type: 'round.requested';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Version of the actor weights; never decreases. A whole number, >= 0. */
  weightVersion: number;
}

/**
 * The data source has no more prompts.
 *
 * Event `source.exhausted`.
 */
export interface SourceExhausted {
  /** Which event or decision it is. */
  type: 'source.exhausted';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Only this domain is exhausted. At most 512 characters. */
  domain?: string | undefined;
}

/**
 * The data source has prompts again (a new epoch).
 *
 * Event `source.reopened`.
 */
export interface SourceReopened {
  /** Which event or decision it is. */
  type: 'source.reopened';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
}

/**
 * Supply this many prompts, in portions of any size.
 *
 * Command `prompts.request`; answered by `prompts.supplied`, `source.exhausted`.
 */
export interface PromptsRequest {
  /** Which event or decision it is. */
  type: 'prompts.request';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** How many more prompts are wanted. A whole number, >= 1. */
  count: number;
  /** The same, by domain, where quotas are set. Each: a whole number, >= 1. */
  domains?: Record<string, number> | undefined;
  /** Why, with the numbers. */
  reason:
    | {
        /** Which reason it is. */
        code: 'round_opened';
        /**  A whole number, >= 0. */
        target: number;
        /**  A whole number, >= 0. */
        known: number;
      }
    | {
        /** Which reason it is. */
        code: 'filtered';
        /**  A whole number, >= 0. */
        target: number;
        /**  A whole number, >= 0. */
        admitted: number;
      }
    | {
        /** Which reason it is. */
        code: 'quarantined';
        /**  A whole number, >= 0. */
        target: number;
        /**  A whole number, >= 0. */
        admitted: number;
      }
    | {
        /** Which reason it is. */
        code: 'merged';
        /**  A whole number, >= 0. */
        target: number;
        /**  A whole number, >= 0. */
        admitted: number;
      }
    | {
        /** Which reason it is. */
        code: 'host_restarted';
        /**  A whole number, >= 0. */
        target: number;
        /**  A whole number, >= 0. */
        admitted: number;
      };
}

/**
 * The round has all that it trains on; only the ids named here are final.
 *
 * Notice `round.completed`.
 */
export interface RoundCompleted {
  /** Which event or decision it is. */
  type: 'round.completed';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** `short`: with speculation; `long`: without. */
  kind: 'short' | 'long';
  /** Version of the actor weights; never decreases. A whole number, >= 0. */
  weightVersion: number;
  /** In the order in which the prompts entered the round. */
  prompts: FinalPrompt[];
  /** When the round was opened. A number, >= 0. In seconds. */
  openedSeconds: number;
  /** Prompts deferred or carried at its end. A whole number, >= 0. */
  deferred: number;
  /** Why, with the numbers. */
  reason:
    | {
        /** Which reason it is. */
        code: 'quota_reached';
        /**  A whole number, >= 0. */
        counted: number;
        /**  A whole number, >= 0. */
        needed: number;
      }
    | {
        /** Which reason it is. */
        code: 'source_exhausted';
        /**  A whole number, >= 0. */
        counted: number;
        /**  A whole number, >= 0. */
        needed: number;
      }
    | {
        /** Which reason it is. */
        code: 'only_duplicates';
        /**  A whole number, >= 0. */
        counted: number;
        /**  A whole number, >= 0. */
        needed: number;
      }
    | {
        /** Which reason it is. */
        code: 'round_failed';
        /**  A whole number, >= 0. */
        counted: number;
        /**  A whole number, >= 0. */
        needed: number;
      }
    | {
        /** Which reason it is. */
        code: 'all_ended';
        /**  A whole number, >= 0. */
        counted: number;
        /**  A whole number, >= 0. */
        needed: number;
      };
}

/**
 * Nothing of the round is in flight any more: the weights may be updated.
 *
 * Notice `round.drained`.
 */
export interface RoundDrained {
  /** Which event or decision it is. */
  type: 'round.drained';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Why, with the numbers. */
  reason: {
    /** Which reason it is. */
    code: 'all_ended';
    /** Seconds, >= 0. */
    afterSeconds: number;
  };
}

/**
 * What the next round is: its kind, and the queued prompts that it begins with.
 *
 * Notice `round.planned`.
 */
export interface RoundPlanned {
  /** Which event or decision it is. */
  type: 'round.planned';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** `short`: with speculation; `long`: without. */
  kind: 'short' | 'long';
  /** Version of the actor weights; never decreases. A whole number, >= 0. */
  weightVersion: number;
  /** Queued prompts that it begins with, in order. */
  queued: Prompt[];
  /** Why, with the numbers. */
  reason:
    | {
        /** Which reason it is. */
        code: 'queue_below_threshold';
        /**  A whole number, >= 0. */
        queued: number;
        /**  A whole number, >= 0. */
        promptsPerRound: number;
      }
    | {
        /** Which reason it is. */
        code: 'queue_full';
        /**  A whole number, >= 0. */
        queued: number;
        /**  A whole number, >= 0. */
        promptsPerRound: number;
      }
    | {
        /** Which reason it is. */
        code: 'prompt_overdue';
        /**  A whole number, >= 0. */
        deferrals: number;
        /**  A whole number, >= 0. */
        waitedRounds: number;
      }
    | {
        /** Which reason it is. */
        code: 'source_exhausted';
        /**  A whole number, >= 0. */
        queued: number;
        /** Prompts that run on into it, if there are any. A whole number, >= 0. */
        carried?: number | undefined;
      };
}

/**
 * A round was open when the host restarted, and is open still: it waits to be ended, or to be given up by
 * `round.failed`.
 *
 * Notice `round.resumed`.
 */
export interface RoundResumed {
  /** Which event or decision it is. */
  type: 'round.resumed';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Version of the weights that it is generated with, where it is known. A whole number, >= 0. */
  weightVersion?: number | undefined;
  /** Prompts, or groups, of the round that are known here, in order. Each: at most 512 characters. */
  promptIds: string[];
  /** Why, with the numbers. */
  reason: {
    /** Which reason it is. */
    code: 'host_restarted';
    /**  A whole number, >= 0. */
    prompts: number;
  };
}

/**
 * There is nothing left to plan a round with.
 *
 * Notice `source.drained`.
 */
export interface SourceDrained {
  /** Which event or decision it is. */
  type: 'source.drained';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Why, with the numbers. */
  reason: {
    /** Which reason it is. */
    code: 'source_exhausted';
  };
}

/**
 * The speculation factor that the next rounds use (`speculation: auto`).
 *
 * Notice `speculation.chosen`.
 */
export interface SpeculationChosen {
  /** Which event or decision it is. */
  type: 'speculation.chosen';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Factor for prompts. */
  promptSpeculation: number;
  /** Factor for responses. */
  responseSpeculation: number;
  /** Why, with the numbers. */
  reason:
    | {
        /** Which reason it is. */
        code: 'exploring';
        /**  A whole number, >= 0. */
        round: number;
        /**  A whole number, >= 0. */
        rounds: number;
      }
    | {
        /** Which reason it is. */
        code: 'fixed';
        /** Seconds, >= 0. */
        secondsPerRound: number;
        /**  A whole number, >= 0. */
        measuredRounds: number;
      };
}
