// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Types of `micro-batches`: its input and its plan. */
import type { LengthFunction } from '../messages/objects.ts';

/** Input of `micro-batches`, as a caller writes it. */
export interface MicroBatchesInput {
  /** Tokens of each sequence of each data-parallel rank, where sequences have their rank already. */
  lengthsByRank?: number[][] | undefined;
  /**
   * Tokens of each sequence of the whole batch, in place of `lengthsByRank`. Each: a whole number, 0 to 1,000,000,000.
   */
  lengths?: number[] | undefined;
  /** Ranks that share `lengths`; needed with it. A whole number, 1 to 65,536. */
  ranks?: number | undefined;
  /** Where each of `lengths` lies, as flex-ulysses says; they are dealt out to the ranks if absent. */
  assignments?:
    | {
        /** Index of the sequence in `lengths`. A whole number, 0 or more. */
        sequence: number;
        /** How many ranks share it; each has length ÷ degree of its tokens. A whole number, 1 to 65,536. */
        degree: number;
        /** Those ranks: neighbours, ascending. Each: a whole number, 0 or more. */
        devices: number[];
      }[]
    | undefined;
  /**
   * Most tokens that a rank has in one micro-batch; the sum of length ÷ degree where sequences are sharded. A whole
   * number, 1 to 1,000,000,000,000,000.
   */
  maxTokensPerMicroBatch: number;
  /**
   * What becomes of a sequence above the cap: no plan, or a micro-batch for itself that says `overCap`.
   *
   * @defaultValue `'refuse'`
   */
  overlong?: 'refuse' | 'alone' | undefined;
  /**
   * Fewest micro-batches of a rank. A whole number, 0 to 1,000,000.
   *
   * @defaultValue `0`
   */
  minMicroBatches?: number | undefined;
  /**
   * What divides the number of micro-batches of a rank, as virtual pipeline stages ask for. A whole number, 1 to
   * 65,536.
   *
   * @defaultValue `1`
   */
  divisibleBy?: number | undefined;
  /**
   * Work of a whole sequence, by its length, in any unit, which is balanced; that of verl if absent.
   *
   * @defaultValue `{"perToken":24576,"perTokenSquared":1}`
   */
  compute?: LengthFunction | undefined;
}

/** Input of `micro-batches`, its defaults filled in. */
export interface MicroBatchesSettings
  extends Omit<MicroBatchesInput, 'overlong' | 'minMicroBatches' | 'divisibleBy' | 'compute'> {
  /** What becomes of a sequence above the cap: no plan, or a micro-batch for itself that says `overCap`. */
  overlong: 'refuse' | 'alone';
  /** Fewest micro-batches of a rank. A whole number, 0 to 1,000,000. */
  minMicroBatches: number;
  /**
   * What divides the number of micro-batches of a rank, as virtual pipeline stages ask for. A whole number, 1 to
   * 65,536.
   */
  divisibleBy: number;
  /** Work of a whole sequence, by its length, in any unit, which is balanced; that of verl if absent. */
  compute: LengthFunction;
}

/** Plan of `micro-batches`. */
export interface MicroBatchesPlan {
  /** Micro-batches of every rank. A whole number, 0 or more. */
  count: number;
  /** What each rank runs. */
  ranks: {
    /** In the order in which they are run. */
    microBatches: MicroBatch[];
  }[];
  /** How good a plan could be at best. */
  bounds: {
    /** No plan has fewer micro-batches. A whole number, 0 or more. */
    count: number;
  };
  /** How good this one is. */
  metrics: {
    /** Tokens of the largest micro-batch. A number, 0 or more. */
    maxTokens: number;
    /** Work of the micro-batch that has most. A number, 0 or more. */
    maxWork: number;
    /** Work of all ranks. A number, 0 or more. */
    totalWork: number;
    /**
     * Most work of a rank in the first micro-batches, plus most in the second ones, and so on: what a step takes if
     * ranks wait for each other at every micro-batch. A number, 0 or more.
     */
    lockstepWork: number;
    /** Empty micro-batches of all ranks. A whole number, 0 or more. */
    empty: number;
  };
}

/** What a rank runs in one forward and backward pass. */
export interface MicroBatch {
  /**
   * Its sequences, ascending: indices in `lengths`, or in the list of that rank in `lengthsByRank`. Each: a whole
   * number, 0 or more.
   */
  sequences: number[];
  /** Tokens that the rank has in it: the sum of length ÷ degree. A number, 0 or more. */
  tokens: number;
  /** Work of the rank in it, in the unit of `compute`. A number, 0 or more. */
  work: number;
  /** No sequence is in it: the rank runs a pass over padding that counts for nothing. */
  empty: boolean;
  /** One sequence is in it that is above the cap by itself. */
  overCap: boolean;
}
