// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: judge. */
import type { Because, Stamped } from './objects.ts';

/**
 * Lay the layers of the judge out like this, before it is given anything longer than the plan before was for.
 *
 * Command `judge.place`.
 */
export interface JudgePlace extends Stamped<'judge.place'> {
  /** Greatest length that the plan is for, in tokens. A whole number, 1 or more. */
  sequenceTokens: number;
  /** Layers that stay on the GPU. A whole number, 0 or more. */
  residentLayers: number;
  /** The other layers, ascending: they pass through buffers from host memory. Each: a whole number, 0 or more. */
  streamedLayers: number[];
  /** Buffers of one layer each; 0 if no layer is streamed. A whole number. */
  prefetchDepth: number;
  /** Share of the SMs for the judge. A number, 0.01 to 1. */
  mpsShare: number;
  /** GPU memory that the judge takes, in bytes. A number, 0 or more. */
  memoryBytes: number;
  /** Predicted seconds of a forward pass of that length. A number, 0 or more. */
  pipelinedSeconds: number;
  /** Why, with the numbers. */
  reason:
    | Because<'start'>['reason']
    | Because<'longer_response', {
        /** Tokens of the response that is longer. A whole number, 0 to 1,000,000,000. */
        responseTokens: number;
        /** Length that the plan before was for, in tokens. A whole number, 1 or more. */
        plannedTokens: number;
      }>['reason']
    | Because<'round_planned', {
        /** Longest length seen in rounds of this kind, in tokens. A whole number, 0 to 1,000,000,000. */
        longestTokens: number;
        /** Length that the plan before was for, in tokens. A whole number, 1 or more. */
        plannedTokens: number;
      }>['reason'];
}
