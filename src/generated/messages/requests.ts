// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: requests. */
import type { Because, KeptResponse, Stamped } from './objects.ts';

/**
 * The engine confirms that a request has ended early.
 *
 * Event `request.aborted`.
 */
export interface RequestAborted extends Stamped<'request.aborted'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Tokens that the request had generated, over all attempts. A whole number, 0 to 1,000,000,000. */
  tokens?: number | undefined;
  /**
   * Versions of the weights that generated these, where the engine tells, ascending. Each: a whole number, 0 to
   * 4,000,000,000,000,000.
   */
  weightVersions?: number[] | undefined;
}

/**
 * A request has generated tokens since the last such report, as a host may tell that limits the time of responses: a
 * response that goes on is no hang.
 *
 * Event `request.progressed`.
 */
export interface RequestProgressed extends Stamped<'request.progressed'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Tokens that the request has generated so far, over all attempts. A whole number, 0 to 1,000,000,000. */
  tokens: number;
}

/**
 * A request runs on this engine. Needed where the host places requests, so that `engine.lost` finds them.
 *
 * Event `request.started`.
 */
export interface RequestStarted extends Stamped<'request.started'> {
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
export interface ResponseCompleted extends Stamped<'response.completed'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Tokens of the response, over all attempts. A whole number, 0 to 1,000,000,000. */
  tokens: number;
  /**
   * Versions of the weights that generated it, where the engine tells, ascending; `rolloutpipe` reads them. Each: a
   * whole number, 0 to 4,000,000,000,000,000.
   */
  weightVersions?: number[] | undefined;
}

/**
 * A request has failed and generates no more.
 *
 * Event `response.failed`.
 */
export interface ResponseFailed extends Stamped<'response.failed'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /**
   * `infrastructure`: another try may help. `data`: the prompt itself is at fault. `environment`: the sandbox or the
   * tools of a trajectory have failed, not the code in them.
   */
  kind: 'infrastructure' | 'data' | 'environment';
  /** What went wrong, for operators: a text of any length, of which 2,000 characters are kept. */
  message?: string | undefined;
}

/**
 * Stop generating this response and confirm with `request.aborted`.
 *
 * Command `request.abort`; answered by `request.aborted`, `response.completed`, `response.failed`.
 */
export interface RequestAbort extends Stamped<'request.abort'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the inference engine, given by the host. At most 512 characters. */
  engineId?: string | undefined;
  /** Why, with the numbers. */
  reason:
    | Because<'prompt_collected', {
        /** Responses of the prompt that are held. A whole number, 0 or more. */
        held: number;
        /** Responses that the prompt needs. A whole number, 0 or more. */
        needed: number;
      }>['reason']
    | Because<'round_completed' | 'quota_filled', {
        /** Prompts that count for the round, or for the quota. A whole number, 0 or more. */
        counted: number;
      }>['reason']
    | Because<'prompt_failed', {
        /** Responses of the prompt that are held. A whole number, 0 or more. */
        held: number;
      }>['reason']
    | Because<'response_timeout', {
        /** How long the request has run, in seconds. A number, 0 or more. */
        ranSeconds: number;
        /** How long it may run, in seconds. A number, 0 or more. */
        limitSeconds: number;
      }>['reason']
    | Because<'round_failed' | 'prompt_left'>['reason']
    | Because<'stale_weights', {
        /** Version of the weights that its first tokens are of. A whole number, 0 to 4,000,000,000,000,000. */
        startVersion: number;
        /** Version of the actor weights; never decreases. A whole number, 0 to 4,000,000,000,000,000. */
        weightVersion: number;
      }>['reason'];
}

/**
 * An abort was never confirmed; its engine slot counts as free.
 *
 * Notice `request.expired`; an event of `watchdog`.
 */
export interface RequestExpired extends Stamped<'request.expired'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Why, with the numbers. */
  reason: Because<'abort_unconfirmed', {
    /** How long the confirmation was waited for, in seconds. A number, 0 or more. */
    graceSeconds: number;
  }>['reason'];
}

/**
 * Start generating one response.
 *
 * Command `request.launch`; answered by `response.completed`, `response.failed`.
 */
export interface RequestLaunch extends Stamped<'request.launch'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Which response of the prompt, from 0. A whole number. */
  index: number;
  /** Version of the actor weights; never decreases. A whole number, 0 to 4,000,000,000,000,000. */
  weightVersion: number;
  /** Where to run it; always given with `placement: policy`. At most 512 characters. */
  engineId?: string | undefined;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Tokens of the prompt itself, if the host has given them. A whole number, 0 to 1,000,000,000. */
  promptTokens?: number | undefined;
  /** Tokens to continue from, instead of starting anew. */
  resumeFrom?: KeptResponse | undefined;
  /** Why, with the numbers. */
  reason:
    | Because<'planned' | 'host_restarted', {
        /** Requests in flight, without this one. A whole number, 0 or more. */
        inFlight: number;
      }>['reason']
    | Because<'retry_infrastructure' | 'retry_environment' | 'retry_timeout', {
        /** How many tries of this response went before, within its budget. A whole number, 0 or more. */
        attempt: number;
        /** Most further tries after failures of this kind. A whole number, 0 or more. */
        budget: number;
        /** How long the response has waited since the try before, in seconds. A number, 0 or more. */
        pauseSeconds: number;
        /** What fails: an engine, an environment, a reward worker, a loader of samples, or the data of prompts. */
        scope: 'engine' | 'environment' | 'reward' | 'loader' | 'prompt';
        /**
         * Which one: id of the engine or worker, kind of the rewards, or `transfers` of samples, also from one node;
         * absent: all of them. At most 512 characters.
         */
        id?: string | undefined;
      }>['reason']
    | Because<'retry_data', {
        /** How many tries of this response went before, within its budget. A whole number, 0 or more. */
        attempt: number;
        /** Most further tries after failures of this kind. A whole number, 0 or more. */
        budget: number;
      }>['reason']
    | Because<'probe', {
        /** What fails: an engine, an environment, a reward worker, a loader of samples, or the data of prompts. */
        scope: 'engine' | 'environment' | 'reward' | 'loader' | 'prompt';
        /**
         * Which one: id of the engine or worker, kind of the rewards, or `transfers` of samples, also from one node;
         * absent: all of them. At most 512 characters.
         */
        id?: string | undefined;
        /** Tries that have failed in this domain, none having succeeded since. A whole number, 0 or more. */
        failures: number;
        /** Time since the single try before, in seconds. A number, 0 or more. */
        pauseSeconds: number;
      }>['reason']
    | Because<'retry_stale_weights', {
        /** How many tries of this response no budget was charged with. A whole number, 0 or more. */
        attempt: number;
      }>['reason']
    | Because<'retry_engine_lost', {
        /** How many tries of this response no budget was charged with. A whole number, 0 or more. */
        attempt: number;
        /** Engines that the prompt has lost, one after the other. A whole number, 0 or more. */
        losses: number;
      }>['reason']
    | Because<'retry_ended_early', {
        /** How many tries of this response no budget was charged with. A whole number, 0 or more. */
        attempt: number;
        /** Tokens that it goes on from. A whole number, 0 to 1,000,000,000. */
        tokens: number;
      }>['reason'];
}

/**
 * Go on generating a trajectory: its tool has answered, or the host has restarted. Then it goes on where its last
 * finished turn has ended, or from its prompt if the host has not kept it.
 *
 * Command `request.resume`; answered by `response.completed`, `response.failed`.
 */
export interface RequestResume extends Stamped<'request.resume'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the inference engine, given by the host. At most 512 characters. */
  engineId?: string | undefined;
  /** Opaque reference of the host, at most 256 bytes; echoed. */
  ref?: string | undefined;
  /** Why, with the numbers. */
  reason:
    | Because<'tool_finished', {
        /** Requests in flight, without this one. A whole number, 0 or more. */
        inFlight: number;
      }>['reason']
    | Because<'host_restarted', {
        /** Requests in flight, without this one. A whole number, 0 or more. */
        inFlight: number;
        /** Tokens that its finished turns have generated. A whole number, 0 to 1,000,000,000. */
        tokens: number;
      }>['reason'];
}

/**
 * A response has used up its retries and is not tried again; its prompt goes on with the others.
 *
 * Notice `response.abandoned`; an event of `frontier-group-dispatch`.
 */
export interface ResponseAbandoned extends Stamped<'response.abandoned'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Why, with the numbers. */
  reason:
    | Because<'infrastructure' | 'data' | 'environment' | 'timeout', {
        /** Failures of this kind. A whole number, 0 or more. */
        failures: number;
        /** Most failures that lead to another try. A whole number, 0 or more. */
        budget: number;
      }>['reason']
    | Because<'not_compared', {
        /** Failures that no success of another has followed. A whole number, 0 or more. */
        failures: number;
        /** How long it has waited for one, in seconds. A number, 0 or more. */
        seconds: number;
        /** How long it waits (`giveUpSeconds`), in seconds. A number, 0 or more. */
        limitSeconds: number;
      }>['reason'];
}

/**
 * A completed response is held for its prompt.
 *
 * Notice `response.accepted`; an event of `reward-dispatch`, `group-assembly`, `gpu-scale-down`, `watchdog`.
 */
export interface ResponseAccepted extends Stamped<'response.accepted'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Data domain of the prompt, such as `math` or `code`. At most 512 characters. */
  domain?: string | undefined;
  /** Why, with the numbers. */
  reason:
    | Because<'held', {
        /** Responses of the prompt that are held. A whole number, 0 or more. */
        held: number;
        /** Responses that the prompt needs. A whole number, 0 or more. */
        needed: number;
      }>['reason']
    | Because<'other_weights', {
        /** Responses of the prompt that are held. A whole number, 0 or more. */
        held: number;
        /** Responses that the prompt needs. A whole number, 0 or more. */
        needed: number;
        /**
         * Versions of the weights that generated it, as its engine says, ascending: not all are those that were asked
         * for. Each: a whole number, 0 to 4,000,000,000,000,000.
         */
        weightVersions: number[];
        /** Version of the weights of its round. A whole number, 0 to 4,000,000,000,000,000. */
        weightVersion: number;
      }>['reason'];
}

/**
 * A complete response, or one whose tokens were kept, is given up.
 *
 * Notice `response.dropped`; an event of `reward-dispatch`, `group-assembly`, `frontier-group-dispatch`, `watchdog`.
 */
export interface ResponseDropped extends Stamped<'response.dropped'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Tokens of the response, over all attempts. A whole number, 0 to 1,000,000,000. */
  tokens: number;
  /** Whether it was complete. */
  finished: boolean;
  /** Why, with the numbers. */
  reason:
    | Because<'stale_weights', {
        /** Oldest version of the weights that it has tokens of. A whole number, 0 to 4,000,000,000,000,000. */
        oldestVersion: number;
        /** Version of the actor weights; never decreases. A whole number, 0 to 4,000,000,000,000,000. */
        weightVersion: number;
        /** Most versions that its tokens may be behind. A whole number, 0 or more. */
        maxStaleness: number;
      }>['reason']
    | Because<'beyond_round', {
        /** Responses of the prompt that the round takes. A whole number, 0 or more. */
        needed: number;
      }>['reason']
    | Because<'no_reward'>['reason'];
}

/**
 * A report about a request that is over, or a reward that its round did not wait for: nothing changes.
 *
 * Notice `response.late`.
 */
export interface ResponseLate extends Stamped<'response.late'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Why, with the numbers. */
  reason:
    | Because<'completion', {
        /** Tokens of the response. A whole number, 0 to 1,000,000,000. */
        tokens: number;
      }>['reason']
    | Because<'report'>['reason'];
}

/**
 * A completed response is not needed any more.
 *
 * Notice `response.surplus`; an event of `frontier-group-dispatch`.
 */
export interface ResponseSurplus extends Stamped<'response.surplus'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Why, with the numbers. */
  reason: Because<'after_abort' | 'control', {
    /** Tokens of the response. A whole number, 0 to 1,000,000,000. */
    tokens: number;
  }>['reason'];
}
