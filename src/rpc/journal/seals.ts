/**
 * Seals of records: each record of a session includes the seal of the record before it, and one sum covers the last seals of all
 * sessions.
 */

import type { AnyDecision } from '../../core/machine/definition.ts';

/** Computes and reads the seals of records. */
export interface Seals {
  /**
   * Computes the seal of a record from the seal of the record before it. For the first record of a session, `before` is the number
   * of the session.
   */
  seal(before: string, text: string): string;
  /** Returns a record in its stored form. */
  stored(seal: string, text: string): string;
  /** Splits a stored record into seal and text; returns nothing if the seal is wrong. */
  opened(before: string, record: string): { readonly seal: string; readonly text: string } | undefined;
  /** Splits a stored record without a check; the seal is empty if the record has none. */
  unchecked(record: string): { readonly seal: string; readonly text: string };
  /** Computes a digest of the decisions of a step; absent where that would be slow: then only the same version replays steps. */
  digest?(decisions: readonly AnyDecision[]): string;
}

/**
 * The sum of the last seals of all sessions. Every record changes the sum. So if the last record of a session is missing, the sum
 * shows this as soon as anything was written after that record.
 */
export class SealSum {
  #sum = 0n;

  replace(before: string, after: string): void {
    this.#sum = this.#replaced(before, after);
  }

  /** Returns what the sum would be with another seal. */
  with(before: string, after: string): string {
    return this.#replaced(before, after).toString(16);
  }

  #replaced(before: string, after: string): bigint {
    const change = BigInt(`0x${after || '0'}`) - BigInt(`0x${before || '0'}`);
    return BigInt.asUintN(64, this.#sum + change);
  }

  toString(): string {
    return this.#sum.toString(16);
  }
}
