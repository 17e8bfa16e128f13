/** Checksums: each record of a session seals the one before it, and one sum seals all sessions. */
import { createHash } from 'node:crypto';

const digits = 16;

/** Seals a text behind another seal. */
export function sealed(before: string, text: string): string {
  return createHash('sha256').update(before).update(text).digest('hex').slice(0, digits);
}

/** A record as it is stored. */
export const withSeal = (seal: string, text: string): string => `${seal}${text}`;

/** Takes a stored record apart; nothing where its seal is not right. */
export function unsealed(before: string, record: string): { readonly seal: string; readonly text: string } | undefined {
  const [seal, text] = [record.slice(0, digits), record.slice(digits)];
  return sealed(before, text) === seal ? { seal, text } : undefined;
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
