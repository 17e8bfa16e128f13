// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: gpus. */
import type { Because, EnginePlace, MigrationBatch, RunningRequest, Stamped } from './objects.ts';

/**
 * The GPUs could not be released; requests that have moved stay where they are now.
 *
 * Event `gpus.release.failed`.
 */
export interface GpusReleaseFailed extends Stamped<'gpus.release.failed'> {
  /** Id of the release of GPUs, minted by the policy. At most 512 characters. */
  releaseId: string;
  /** What went wrong, for operators: a text of any length, of which 2,000 characters are kept. */
  message?: string | undefined;
}

/**
 * These GPUs have left the rollout of the round and may train. May be repeated.
 *
 * Event `gpus.released`.
 */
export interface GpusReleased extends Stamped<'gpus.released'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** The release that `gpus.release` asked for, where there was one. At most 512 characters. */
  releaseId?: string | undefined;
  /** GPUs that were released. Each: at most 512 characters. */
  gpuIds: string[];
}

/**
 * These GPUs belong to the rollout again. May be repeated.
 *
 * Event `gpus.returned`.
 */
export interface GpusReturned extends Stamped<'gpus.returned'> {
  /** The round that they were released in; a host that has forgotten it leaves it out. At most 512 characters. */
  roundId?: string | undefined;
  /** The release that `gpus.release` asked for, where there was one. At most 512 characters. */
  releaseId?: string | undefined;
  /** GPUs that went back. Each: at most 512 characters. */
  gpuIds: string[];
}

/**
 * A request could not be moved; it is where it was, or nowhere.
 *
 * Event `migration.failed`.
 */
export interface MigrationFailed extends Stamped<'migration.failed'> {
  /** Id of the release of GPUs, minted by the policy. At most 512 characters. */
  releaseId: string;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /**
   * Which try: that of the `request.migrate`; absent for the first one, that of `gpus.release`. A whole number, 1 or
   * more.
   */
  attempt?: number | undefined;
  /** What went wrong, for operators: a text of any length, of which 2,000 characters are kept. */
  message?: string | undefined;
}

/**
 * The answer to a `progress.query`: every request that is running or waiting on an engine, once.
 *
 * Event `progress.reported`.
 */
export interface ProgressReported extends Stamped<'progress.reported'> {
  /** Id of the query, minted by the policy. At most 512 characters. */
  queryId: string;
  /** All requests in flight, in any order, each once. */
  requests: RunningRequest[];
}

/**
 * A request has left its engine and goes on, with its tokens, on the one that it was sent to.
 *
 * Event `request.migrated`.
 */
export interface RequestMigrated extends Stamped<'request.migrated'> {
  /** Id of the release of GPUs, minted by the policy. At most 512 characters. */
  releaseId: string;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /**
   * Which try: that of the `request.migrate`; absent for the first one, that of `gpus.release`. A whole number, 1 or
   * more.
   */
  attempt?: number | undefined;
}

/**
 * Give the GPUs back to rollout as soon as no training of the round needs them; answer with `gpus.returned`.
 *
 * Command `gpus.reclaim`; answered by `gpus.returned`.
 */
export interface GpusReclaim extends Stamped<'gpus.reclaim'> {
  /** Id of the release of GPUs, minted by the policy. At most 512 characters. */
  releaseId: string;
  /** The engines of these GPUs. Each: at most 512 characters. */
  engineIds: string[];
  /** The GPUs themselves. Each: at most 512 characters. */
  gpuIds: string[];
  /** Why, with the numbers. */
  reason:
    | Because<'round_completed' | 'round_replaced' | 'host_restarted' | 'release_failed' | 'ended_before_release' |
          'restarted_before_release' | 'asked_again'>['reason']
    | Because<'engines_lost', {
        /** The last engine that was rolling out. At most 512 characters. */
        engineId: string;
      }>['reason']
    | Because<'migration_failed', {
        /** Id of the request, minted by the policy. At most 1,200 characters. */
        requestId: string;
        /** Tries to move the request. A whole number, 0 or more. */
        attempts: number;
      }>['reason']
    | Because<'engine_lost', {
        /** Id of the inference engine, given by the host. At most 512 characters. */
        engineId: string;
      }>['reason'];
}

/**
 * Stop rollout on these engines, move their requests as listed (tokens kept, KV recomputed), report each with
 * `request.migrated` or `migration.failed`, then answer with `gpus.released` or `gpus.release.failed`.
 *
 * Command `gpus.release`; answered by `gpus.released`, `gpus.release.failed`.
 */
export interface GpusRelease extends Stamped<'gpus.release'> {
  /** Id of the release of GPUs, minted by the policy. At most 512 characters. */
  releaseId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Engines whose GPUs go to training. */
  release: EnginePlace[];
  /** Engines that go on with rollout. Each: at most 512 characters. */
  keep: string[];
  /** Every request of the released engines once, by the engine that it leaves and the one that it goes to. */
  migrations: MigrationBatch[];
  /** Why, with the numbers. */
  reason: Because<'fits' | 'fixed_fraction', {
    /** Responses, or prompts, finished in the round. A whole number, 0 or more. */
    finished: number;
    /** How many the round needs. A whole number, 1 or more. */
    target: number;
    /** The engine that is filled most, of those that would remain. At most 512 characters. */
    engineId: string;
    /** Projected peak of its KV cache, in tokens. A whole number, 0 to 1,000,000,000,000. */
    projectedTokens: number;
    /** What its KV cache holds, in tokens. A whole number, 0 to 1,000,000,000,000. */
    capacityTokens: number;
  }>['reason'];
}

/**
 * A request could not be moved from GPUs that have been released: it runs nowhere and has failed (infrastructure).
 *
 * Notice `migration.abandoned`.
 */
export interface MigrationAbandoned extends Stamped<'migration.abandoned'> {
  /** Id of the release of GPUs, minted by the policy. At most 512 characters. */
  releaseId: string;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Why, with the numbers. */
  reason:
    | Because<'tries_used_up', {
        /** Tries to move the request. A whole number, 0 or more. */
        attempts: number;
        /** Most tries to move a request. A whole number, 0 or more. */
        budget: number;
      }>['reason']
    | Because<'no_engine', {
        /** Tries to move the request. A whole number, 0 or more. */
        attempts: number;
      }>['reason'];
}

/**
 * Do not let this request go on at the engine that it moves to, and stop it there if it does: it has ended.
 *
 * Command `migration.cancel`.
 */
export interface MigrationCancel extends Stamped<'migration.cancel'> {
  /** Id of the release of GPUs, minted by the policy. At most 512 characters. */
  releaseId: string;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** The engine that it goes to. At most 512 characters. */
  to: string;
  /** Why, with the numbers. */
  reason: Because<'aborted' | 'completed' | 'migrated_after_end'>['reason'];
}

/**
 * Report all requests in flight with `progress.reported`.
 *
 * Command `progress.query`; answered by `progress.reported`.
 */
export interface ProgressQuery extends Stamped<'progress.query'> {
  /** Id of the query, minted by the policy. At most 512 characters. */
  queryId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Why, with the numbers. */
  reason: Because<'milestone', {
    /** Responses, or prompts, finished in the round. A whole number, 0 or more. */
    finished: number;
    /** How many the round needs. A whole number, 1 or more. */
    target: number;
    /** Finished since the evaluation before. A whole number, 0 or more. */
    sinceLast: number;
  }>['reason'];
}

/**
 * Move this request to another engine than was tried before; report as for `gpus.release`.
 *
 * Command `request.migrate`; answered by `request.migrated`, `migration.failed`.
 */
export interface RequestMigrate extends Stamped<'request.migrate'> {
  /** Id of the release of GPUs, minted by the policy. At most 512 characters. */
  releaseId: string;
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** The engine that it leaves. At most 512 characters. */
  from: string;
  /** The engine that it goes to. At most 512 characters. */
  to: string;
  /**
   * Tokens generated when this was decided; they are kept, the budget is cumulative. A whole number, 0 to
   * 1,000,000,000.
   */
  tokens: number;
  /** Which try this is, from 2; it goes into the answer. A whole number, 1 or more. */
  attempt: number;
  /** Why, with the numbers. */
  reason: Because<'migration_failed', {
    /** Tries before this one. A whole number, 0 or more. */
    attempts: number;
    /** Most tries to move a request. A whole number, 0 or more. */
    budget: number;
  }>['reason'];
}

/**
 * A report about something that is over: nothing changes.
 *
 * Notice `scale-down.late`.
 */
export interface ScaleDownLate extends Stamped<'scale-down.late'> {
  /** Id of the query, the release, the request, the round or the engine. */
  id: string;
  /** Why, with the numbers. */
  reason: Because<'query_closed' | 'migration_closed' | 'release_closed' | 'released_late' | 'round_closed' |
      'engine_replaced'>['reason'];
}

/**
 * No GPUs are released at this milestone; the next one tries again.
 *
 * Notice `scale-down.rejected`.
 */
export interface ScaleDownRejected extends Stamped<'scale-down.rejected'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Why, with the numbers. */
  reason:
    | Because<'no_partition', {
        /** GPUs that roll out. A whole number, 0 or more. */
        gpus: number;
        /** How many were to go, without splitting a group. A whole number, 0 or more. */
        wanted: number;
      }>['reason']
    | Because<'kv_cache', {
        /** Responses, or prompts, finished in the round. A whole number, 0 or more. */
        finished: number;
        /** How many the round needs. A whole number, 1 or more. */
        target: number;
        /** The engine that is filled most, of those that would remain. At most 512 characters. */
        engineId: string;
        /** Projected peak of its KV cache, in tokens. A whole number, 0 to 1,000,000,000,000. */
        projectedTokens: number;
        /** What its KV cache holds, in tokens. A whole number, 0 to 1,000,000,000,000. */
        capacityTokens: number;
      }>['reason']
    | Because<'kv_cache_together', {
        /** Responses, or prompts, finished in the round. A whole number, 0 or more. */
        finished: number;
        /** How many the round needs. A whole number, 1 or more. */
        target: number;
        /**
         * Expected peak of the KV caches of all engines together, in tokens. A whole number, 0 to 1,000,000,000,000.
         */
        expectedTokens: number;
        /** What those that would remain hold together, in tokens. A whole number, 0 to 1,000,000,000,000. */
        capacityTokens: number;
      }>['reason']
    | Because<'no_target', {
        /** Engines that would remain, none of which takes new requests. A whole number, 0 or more. */
        engines: number;
      }>['reason']
    | Because<'not_returned', {
        /** Id of the release of GPUs, minted by the policy. At most 512 characters. */
        releaseId: string;
      }>['reason'];
}
