/** Tokens of TCP: read from a file, compared in a time that says nothing of where they differ. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { PolicyError } from '../../errors.ts';

const shortest = 16;

/**
 * What checks tokens against that of a file, white space at its ends left out.
 *
 * @throws PolicyError `invalid_input` for one of fewer than 16 characters; the system's error for a file that cannot be
 *   read
 */
export function tokenFromFile(path: string): (token: string) => boolean {
  const token = readFileSync(path, 'utf8').trim();
  if (token.length < shortest) {
    const expected = `a token of at least ${shortest} characters`;
    throw new PolicyError('invalid_input', { expected, got: `${token.length} characters`, path });
  }
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const right = digest(token);
  return (other) => timingSafeEqual(digest(other), right);
}
