/** Seals of records: each record of a session seals the one before it, and one sum seals all sessions. */

/** Computes and reads the seals of records. */
export interface Seals {
  /** Computes the seal of a record from that of the record before it, or, for the first of a session, from its number. */
  seal(before: string, text: string): string;
  /** Returns a record as it is stored. */
  stored(seal: string, text: string): string;
  /** Splits a stored record into seal and text; nothing if the seal is wrong. */
  opened(before: string, record: string): { readonly seal: string; readonly text: string } | undefined;
}

/**
 * The sum of the last seals of all sessions. It changes with every record, so that it reveals a record missing at the end
 * of one session as soon as anything was written after it.
 */
export class SealSum {
  #sum = 0n;

  replace(before: string, after: string): void {
    const change = BigInt(`0x${after || '0'}`) - BigInt(`0x${before || '0'}`);
    this.#sum = BigInt.asUintN(64, this.#sum + change);
  }

  toString(): string {
    return this.#sum.toString(16);
  }
}
