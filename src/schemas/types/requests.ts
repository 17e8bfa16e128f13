// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: requests. */
import type { KeptResponse } from './objects.ts';

/**
 * The environment of a trajectory has failed.
 *
 * Event `environment.failed`.
 */
export interface EnvironmentFailed {
  /** Which event or decision it is. */
  type: 'environment.failed';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** What went wrong, for operators. At most 2,000 characters. */
  message?: string | undefined;
}

/**
 * The environment has answered.
 *
 * Event `environment.resumed`.
 */
export interface EnvironmentResumed {
  /** Which event or decision it is. */
  type: 'environment.resumed';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
}

/**
 * A trajectory waits for its environment and needs no engine meanwhile.
 *
 * Event `environment.waiting`.
 */
export interface EnvironmentWaiting {
  /** Which event or decision it is. */
  type: 'environment.waiting';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
}

/**
 * The engine confirms that a request has ended early.
 *
 * Event `request.aborted`.
 */
export interface RequestAborted {
  /** Which event or decision it is. */
  type: 'request.aborted';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Tokens that the request had generated, over all attempts. A whole number, >= 0. */
  tokens?: number | undefined;
}

/**
 * A request runs on this engine.
 *
 * Event `request.started`.
 */
export interface RequestStarted {
  /** Which event or decision it is. */
  type: 'request.started';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the inference engine, given by the host. At most 512 characters. */
  engineId: string;
}

/**
 * A request has generated its whole response.
 *
 * Event `response.completed`.
 */
export interface ResponseCompleted {
  /** Which event or decision it is. */
  type: 'response.completed';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Tokens of the response, over all attempts. A whole number, >= 0. */
  tokens: number;
  /**
   * Versions of the weights that generated it, where the engine tells, ascending; `rolloutpipe` reads them. Each: a
   * whole number, >= 0.
   */
  weightVersions?: number[] | undefined;
}

/**
 * A request has failed and generates no more.
 *
 * Event `response.failed`.
 */
export interface ResponseFailed {
  /** Which event or decision it is. */
  type: 'response.failed';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** `infrastructure`: another try may help. `data`: the prompt itself is at fault. */
  kind: 'infrastructure' | 'data';
  /** What went wrong, for operators. At most 2,000 characters. */
  message?: string | undefined;
}

/**
 * A turn of a multi-turn trajectory has been generated.
 *
 * Event `turn.finished`.
 */
export interface TurnFinished {
  /** Which event or decision it is. */
  type: 'turn.finished';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Tokens that the trajectory has generated so far. A whole number, >= 0. */
  tokens: number;
}

/**
 * Stop generating this response and confirm with `request.aborted`.
 *
 * Command `request.abort`; answered by `request.aborted`, `response.completed`, `response.failed`.
 */
export interface RequestAbort {
  /** Which event or decision it is. */
  type: 'request.abort';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the inference engine, given by the host. At most 512 characters. */
  engineId?: string | undefined;
  /** Why, with the numbers. */
  reason:
    | {
        /** Which reason it is. */
        code: 'prompt_collected';
        /** Responses of the prompt that are held. A whole number, >= 0. */
        held: number;
        /**  A whole number, >= 0. */
        needed: number;
      }
    | {
        /** Which reason it is. */
        code: 'round_completed';
        /**  A whole number, >= 0. */
        counted: number;
      }
    | {
        /** Which reason it is. */
        code: 'quota_filled';
        /**  A whole number, >= 0. */
        counted: number;
      }
    | {
        /** Which reason it is. */
        code: 'prompt_quarantined';
        /** Responses of the prompt that are held. A whole number, >= 0. */
        held: number;
      }
    | {
        /** Which reason it is. */
        code: 'response_timeout';
        /** Seconds, >= 0. */
        ranSeconds: number;
        /** Seconds, >= 0. */
        limitSeconds: number;
      }
    | {
        /** Which reason it is. */
        code: 'round_failed';
      }
    | {
        /** Which reason it is. */
        code: 'stale_weights';
        /** Version of the actor weights; never decreases. A whole number, >= 0. */
        startVersion: number;
        /** Version of the actor weights; never decreases. A whole number, >= 0. */
        weightVersion: number;
      };
}

/**
 * An abort was never confirmed; its engine slot counts as free.
 *
 * Notice `request.expired`.
 */
export interface RequestExpired {
  /** Which event or decision it is. */
  type: 'request.expired';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Why, with the numbers. */
  reason: {
    /** Which reason it is. */
    code: 'abort_unconfirmed';
    /** Seconds, >= 0. */
    graceSeconds: number;
  };
}

/**
 * Start generating one response.
 *
 * Command `request.launch`; answered by `response.completed`, `response.failed`, `environment.failed`.
 */
export interface RequestLaunch {
  /** Which event or decision it is. */
  type: 'request.launch';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Which response of the prompt, from 0. A whole number. */
  index: number;
  /** Version of the actor weights; never decreases. A whole number, >= 0. */
  weightVersion: number;
  /** Where to run it (`placement: policy`). At most 512 characters. */
  engineId?: string | undefined;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Tokens to continue from, instead of starting anew. */
  resumeFrom?: KeptResponse | undefined;
  /** Why, with the numbers. */
  reason:
    | {
        /** Which reason it is. */
        code: 'planned';
        /**  A whole number, >= 0. */
        inFlight: number;
      }
    | {
        /** Which reason it is. */
        code: 'retry_infrastructure';
        /** How many tries of this response went before, within its budget. A whole number, >= 0. */
        attempt: number;
        /**  A whole number, >= 0. */
        budget: number;
      }
    | {
        /** Which reason it is. */
        code: 'retry_data';
        /** How many tries of this response went before, within its budget. A whole number, >= 0. */
        attempt: number;
        /**  A whole number, >= 0. */
        budget: number;
      }
    | {
        /** Which reason it is. */
        code: 'retry_environment';
        /** How many tries of this response went before, within its budget. A whole number, >= 0. */
        attempt: number;
        /**  A whole number, >= 0. */
        budget: number;
      }
    | {
        /** Which reason it is. */
        code: 'host_restarted';
        /**  A whole number, >= 0. */
        inFlight: number;
      };
}

/**
 * Go on generating a trajectory whose environment has answered.
 *
 * Command `request.resume`; answered by `response.completed`, `response.failed`, `environment.failed`.
 */
export interface RequestResume {
  /** Which event or decision it is. */
  type: 'request.resume';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the inference engine, given by the host. At most 512 characters. */
  engineId?: string | undefined;
  /** Why, with the numbers. */
  reason: {
    /** Which reason it is. */
    code: 'environment_resumed';
    /**  A whole number, >= 0. */
    inFlight: number;
  };
}

/**
 * A response has used up its retries and is not tried again; its prompt goes on with the others.
 *
 * Notice `response.abandoned`.
 */
export interface ResponseAbandoned {
  /** Which event or decision it is. */
  type: 'response.abandoned';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Why, with the numbers. */
  reason:
    | {
        /** Which reason it is. */
        code: 'infrastructure';
        /**  A whole number, >= 0. */
        failures: number;
        /**  A whole number, >= 0. */
        budget: number;
      }
    | {
        /** Which reason it is. */
        code: 'environment';
        /**  A whole number, >= 0. */
        failures: number;
        /**  A whole number, >= 0. */
        budget: number;
      };
}

/**
 * A completed response is held for its prompt.
 *
 * Notice `response.accepted`.
 */
export interface ResponseAccepted {
  /** Which event or decision it is. */
  type: 'response.accepted';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Data domain of the prompt, such as `math` or `code`. At most 512 characters. */
  domain?: string | undefined;
  /** Why, with the numbers. */
  reason: {
    /** Which reason it is. */
    code: 'held';
    /** Responses of the prompt that are held. A whole number, >= 0. */
    held: number;
    /**  A whole number, >= 0. */
    needed: number;
  };
}

/**
 * A kept response is given up.
 *
 * Notice `response.dropped`.
 */
export interface ResponseDropped {
  /** Which event or decision it is. */
  type: 'response.dropped';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Tokens, >= 0. A whole number. */
  tokens: number;
  /** Whether it was complete. */
  finished: boolean;
  /** Why, with the numbers. */
  reason:
    | {
        /** Which reason it is. */
        code: 'stale_weights';
        /** Version of the actor weights; never decreases. A whole number, >= 0. */
        oldestVersion: number;
        /** Version of the actor weights; never decreases. A whole number, >= 0. */
        weightVersion: number;
        /**  A whole number, >= 0. */
        maxStaleness: number;
      }
    | {
        /** Which reason it is. */
        code: 'beyond_round';
        /**  A whole number, >= 0. */
        needed: number;
      };
}

/**
 * A report about a request that was minted earlier and is over: nothing changes.
 *
 * Notice `response.late`.
 */
export interface ResponseLate {
  /** Which event or decision it is. */
  type: 'response.late';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Why, with the numbers. */
  reason:
    | {
        /** Which reason it is. */
        code: 'completion';
        /** Tokens, >= 0. A whole number. */
        tokens: number;
      }
    | {
        /** Which reason it is. */
        code: 'report';
      };
}

/**
 * A completed response is not needed any more.
 *
 * Notice `response.surplus`.
 */
export interface ResponseSurplus {
  /** Which event or decision it is. */
  type: 'response.surplus';
  /** Time on the clock of the session, in seconds; an earlier one is read as the latest. A number, >= 0. */
  at: number;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Why, with the numbers. */
  reason: {
    /** Which reason it is. */
    code: 'after_abort';
    /** Tokens, >= 0. A whole number. */
    tokens: number;
  };
}
