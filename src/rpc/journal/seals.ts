/** Seals of records: each record of a session seals the one before it, and one sum seals all sessions. */

/** Computes and reads the seals of records. */
export interface Seals {
  /** The seal of a record behind another, or, of the first of a session, behind its number. */
  seal(before: string, text: string): string;
  /** A record as it is stored. */
  stored(seal: string, text: string): string;
  /** Takes a stored record apart; nothing where its seal is not right. */
  opened(before: string, record: string): { readonly seal: string; readonly text: string } | undefined;
}

/**
 * The sum of the last seals of all sessions. It changes with every record, so that a record that is missing at the end
 * of one session shows as soon as anything was written after it.
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
