/** Seals that are checksums, which show whether a record was changed or is missing. */
import { createHash } from 'node:crypto';
import { digestOf } from './digest.ts';
import type { Seals } from './seals.ts';

const digits = 16;

function seal(before: string, text: string): string {
  return createHash('sha256').update(before).update(text).digest('hex').slice(0, digits);
}

/** Seals for a store without checks of its own. */
export const chain: Seals = Object.freeze({
  seal,
  stored: (sealed: string, text: string) => `${sealed}${text}`,
  opened(before: string, record: string) {
    const [sealed, text] = [record.slice(0, digits), record.slice(digits)];
    return seal(before, text) === sealed ? { seal: sealed, text } : undefined;
  },
  unchecked(record: string) {
    const [seal = ''] = /^[0-9a-f]{16}/.exec(record) ?? [];
    return { seal, text: record.slice(digits) };
  },
  digest: digestOf,
});
