/** Tokens for TCP, which are read from a file and compared in constant time. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { refuse } from '../../errors.ts';

const shortest = 16;
const [groupAndOthers, groupMayRead] = [0o077, 0o040];

/**
 * Refuses a file that other users than its owner may read or write. If the server does not own the file, the file's group may
 * read it: so a server without root rights can read a secret that root has mounted. Windows has no such modes.
 */
function checkMode(file: number, path: string): void {
  if (process.platform === 'win32') return;
  const { mode, uid } = fstatSync(file);
  const open = mode & (uid === process.getuid?.() ? groupAndOthers : groupAndOthers & ~groupMayRead);
  if (open === 0) return;
  const expected = `a file that only its owner may read (chmod 600 ${path})`;
  refuse('invalid_input', path, expected, `mode ${(mode & 0o777).toString(8)}`);
}

function readToken(path: string): string {
  const file = openSync(path, 'r');
  try {
    checkMode(file, path);
    return readFileSync(file, 'utf8').trim();
  } finally {
    closeSync(file);
  }
}

/**
 * Returns a function that compares tokens with the token in a file; white space around the token is ignored.
 *
 * @throws PolicyError `invalid_input` for a token of fewer than 16 characters, and for a file that other users may read; the
 *   system's error for a file that cannot be read
 */
export function tokenFromFile(path: string): (token: string) => boolean {
  const token = readToken(path);
  if (token.length < shortest) {
    refuse('invalid_input', path, `a token of at least ${shortest} characters`, `${token.length} characters`);
  }
  return isToken(token);
}

/** Returns a function that compares the tokens of clients with the right one. */
export function isToken(token: string): (other: string) => boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const right = digest(token);
  return (other) => timingSafeEqual(digest(other), right);
}
