// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: chunks. */
import type { Because, ChunkRequest, Stamped } from './objects.ts';

/**
 * A chunk has been generated, and the response is not over. If it is over, `response.completed` says so instead.
 *
 * Event `chunk.finished`.
 */
export interface ChunkFinished extends Stamped<'chunk.finished'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Tokens of the response so far, over all chunks. A whole number, 0 to 1,000,000,000. */
  tokens: number;
}

/**
 * These requests need engines for their next chunks. All of a round in one event, so that the longest can be first. A
 * request that asks again goes on from what this event says.
 *
 * Event `chunks.requested`.
 */
export interface ChunksRequested extends Stamped<'chunks.requested'> {
  /** The requests, each once. */
  requests: ChunkRequest[];
}

/**
 * A response is to be generated in chunks. A host without an admission gives the request an id of its own.
 *
 * Event `request.opened`.
 */
export interface RequestOpened extends Stamped<'request.opened'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId?: string | undefined;
}

/**
 * After a restart of the host: this request was opened and has not asked for a chunk; its `chunks.requested` is
 * awaited.
 *
 * Notice `chunk.awaited`.
 */
export interface ChunkAwaited extends Stamped<'chunk.awaited'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Why, with the numbers. */
  reason: Because<'host_restarted'>['reason'];
}

/**
 * Generate the next chunk of this response on this engine, up to so many tokens. A host that has lost earlier chunks
 * asks again by `chunks.requested`.
 *
 * Command `chunk.continue`; answered by `response.completed`, `chunk.finished`, `response.failed`, `request.aborted`.
 */
export interface ChunkContinue extends Stamped<'chunk.continue'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the inference engine, given by the host. At most 512 characters. */
  engineId: string;
  /** Tokens of the response that come before the chunk. A whole number, 0 to 1,000,000,000. */
  fromTokens: number;
  /** Most tokens of the chunk. A whole number, 1 or more. */
  tokens: number;
  /** Why, with the numbers. */
  reason:
    | Because<'first' | 'probe' | 'resumed' | 'engine_lost' | 'host_restarted', {
        /**
         * Tokens of the KV cache of the engine that no chunk has, before this one. A whole number, 0 to
         * 1,000,000,000,000.
         */
        freeTokens: number;
        /** Length that the response is expected to reach, in tokens. A whole number, 0 to 1,000,000,000. */
        expectedTokens: number;
        /**
         * Expected cost there, in seconds of responses: until this one is over, and by which it delays those that run
         * there. A number, 0 or more.
         */
        seconds: number;
        /** How long the request waited for room, in seconds. A number, 0 or more. */
        waitedSeconds: number;
      }>['reason']
    | Because<'stays', {
        /**
         * Tokens of the KV cache of the engine that no chunk has, before this one. A whole number, 0 to
         * 1,000,000,000,000.
         */
        freeTokens: number;
        /** Length that the response is expected to reach, in tokens. A whole number, 0 to 1,000,000,000. */
        expectedTokens: number;
        /**
         * Expected cost there, in seconds of responses: until this one is over, and by which it delays those that run
         * there. A number, 0 or more.
         */
        seconds: number;
      }>['reason']
    | Because<'moved', {
        /**
         * Tokens of the KV cache of the engine that no chunk has, before this one. A whole number, 0 to
         * 1,000,000,000,000.
         */
        freeTokens: number;
        /** Length that the response is expected to reach, in tokens. A whole number, 0 to 1,000,000,000. */
        expectedTokens: number;
        /**
         * Expected cost there, in seconds of responses: until this one is over, and by which it delays those that run
         * there. A number, 0 or more.
         */
        seconds: number;
        /**
         * Expected cost on the engine of its last chunk, in seconds; absent if there is no room. A number, 0 or more.
         */
        stayingSeconds?: number | undefined;
      }>['reason']
    | Because<'overdue', {
        /**
         * Tokens of the KV cache of the engine that no chunk has, before this one. A whole number, 0 to
         * 1,000,000,000,000.
         */
        freeTokens: number;
        /** Length that the response is expected to reach, in tokens. A whole number, 0 to 1,000,000,000. */
        expectedTokens: number;
        /**
         * Expected cost there, in seconds of responses: until this one is over, and by which it delays those that run
         * there. A number, 0 or more.
         */
        seconds: number;
        /** How long the request waited for room, in seconds. A number, 0 or more. */
        waitedSeconds: number;
        /** How long a request may wait for room, in seconds. A number, 0 or more. */
        limitSeconds: number;
      }>['reason'];
}

/**
 * A report about a request that is over, or about a chunk that is not running: nothing changes.
 *
 * Notice `chunk.late`.
 */
export interface ChunkLate extends Stamped<'chunk.late'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Why, with the numbers. */
  reason: Because<'already_ended' | 'out_of_turn'>['reason'];
}

/**
 * A request that was generated in chunks is over: nothing of it is kept.
 *
 * Notice `request.ended`.
 */
export interface RequestEnded extends Stamped<'request.ended'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Tokens that it has generated, as far as was reported. A whole number, 0 to 1,000,000,000. */
  tokens: number;
  /** Why, with the numbers. */
  reason: Because<'completed' | 'failed' | 'aborted', {
    /** Chunks that it was given. A whole number, 0 or more. */
    chunks: number;
    /** How often a chunk ran on another engine than the one before. A whole number, 0 or more. */
    moves: number;
    /** How long it waited for room, in seconds. A number, 0 or more. */
    waitedSeconds: number;
  }>['reason'];
}
