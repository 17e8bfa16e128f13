/**
 * Seals of records: each record includes the seal of the previous record in its session, and one sum covers the last seals of all
 * sessions.
 */

import type { AnyDecision } from '../../core/machine/definition.ts';

/** Computes and reads the seals of records. */
export interface Seals {
  /**
   * Computes the seal of a record from the seal of the previous record. For the first record of a session, `before` is the number
   * of the session.
   */
  seal(before: string, text: string): string;
  /** Returns a record in its stored form. */
  stored(seal: string, text: string): string;
  /** Splits a stored record into seal and text; returns nothing if the seal is wrong. */
  opened(before: string, record: string): { readonly seal: string; readonly text: string } | undefined;
  /** Splits a stored record without a check; the seal is empty if the record has none. */
  unchecked(record: string): { readonly seal: string; readonly text: string };
  /** Computes a digest of a step's decisions; absent where that would be slow, so that only the same version replays steps. */
  digest?(decisions: readonly AnyDecision[]): string;
}

/**
 * The sum of the last seals of all sessions. Every record changes the sum, so it reveals that a session's last record is missing
 * as soon as anything was written after that record.
 */
export class SealSum {
  #sum = 0n;

  replace(before: string, after: string): void {
    this.#sum = this.#replaced(before, after);
  }

  /** Returns the sum with another seal in the place of one. */
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
