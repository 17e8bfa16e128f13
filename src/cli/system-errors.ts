/** Errors of the operating system in words: a user need not know what ENOENT is. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { getSystemErrorMap } from 'node:util';
import { nearest } from '../core/nearest.ts';
import { refuse } from '../errors.ts';

/** Errors of a path that the user gave: wrong use. Any other error of the system is a failure. */
const ofPaths: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EISDIR: 'this is a folder, and a file is expected',
  ENOTDIR: 'a part of this path is a file, and no folder',
  EACCES: 'you have no permission to read or write here',
  EPERM: 'the system does not allow it',
  EROFS: 'this file system is read-only',
  ENAMETOOLONG: 'this name is too long',
  ELOOP: 'these links lead back to themselves',
};
const ofTheSystem: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EADDRINUSE: 'another program listens there already',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no host of this name',
  EMFILE: 'too many files are open',
};

/** Fields of a system error beside its code. */
interface SystemError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
  /** Set for a file that was to be written: its former content is still there. */
  readonly isUnwritten?: boolean;
}

/** Whether the system said no, and not we. */
export const isSystemError = (error: unknown): error is SystemError =>
  error instanceof Error && (error as SystemError).errno !== undefined;

/** Whether it said so of a path that the user gave. */
export const isPathError = ({ code = '' }: SystemError): boolean => code in ofPaths;

/** Returns the reason of an error, without its place. */
export function reasonOf({ code = '', errno, message }: SystemError): string {
  const [, described] = getSystemErrorMap().get(errno ?? 0) ?? [];
  return ofPaths[code] ?? ofTheSystem[code] ?? described ?? message;
}

const stem = (name: string): string => name.replace(/\.[^.]*$/, '');

/** Names are alike without their endings: all of a folder may have the same. */
function similar(name: string, names: readonly string[]): string | undefined {
  const stems = names.map(stem);
  const meant = stems.includes(stem(name)) ? stem(name) : nearest(stem(name), stems);
  return names.find((one) => stem(one) === meant);
}

/** Returns a hint: a similar name in the folder, or that the folder does not exist. */
function hintOf(path: string): string {
  const folder = dirname(path);
  try {
    const meant = similar(basename(path), readdirSync(folder));
    return meant === undefined ? '' : ` (did you mean "${meant}"?)`;
  } catch {
    return statSync(folder, { throwIfNoEntry: false }) === undefined ? ` (nor the folder ${folder})` : '';
  }
}

/** Describes an error: its place, and its reason. */
export function inWords(error: SystemError): string {
  const { code, path, address, port, hostname, isUnwritten } = error;
  const where = path ?? (port === undefined ? (hostname ?? address) : `${address}:${port}`);
  const hint = code === 'ENOENT' && path !== undefined ? hintOf(path) : '';
  const what = isUnwritten ? ' was not written' : '';
  return `${where === undefined ? '' : `${where}${what}: `}${reasonOf(error)}${hint}`;
}

/**
 * The text of a file.
 *
 * @throws PolicyError `limit_exceeded` for one that no string can hold; the system's error, with the path
 */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    // For a folder the system's error has no path.
    if (isSystemError(error)) throw Object.assign(error, { path });
    const expected = 'a file of less than 512 MB';
    refuse('limit_exceeded', path, expected, statSync(path).size, error);
  }
}
