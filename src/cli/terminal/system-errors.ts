/** Describes errors of the operating system in words, so that a user need not know codes such as ENOENT. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { getSystemErrorMap } from 'node:util';
import { nearest } from '../../core/ids/nearest.ts';
import { refuse } from '../../errors.ts';

/** Errors about a path that the user gave: wrong use. Any other error of the system is a failure. */
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

/** Fields of a system error besides its code. */
interface SystemError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
  /** Set for a file whose new content could not be written: its former content is unchanged. */
  readonly isUnwritten?: boolean;
}

/** Whether the operating system has thrown the error, and not rollflex. */
export const isSystemError = (error: unknown): error is SystemError =>
  error instanceof Error && (error as SystemError).errno !== undefined;

/** Whether the error is about a path that the user gave. */
export const isPathError = ({ code = '' }: SystemError): boolean => code in ofPaths;

/** Returns the reason of an error, without the path. */
export function reasonOf({ code = '', errno, message }: SystemError): string {
  const [, described] = getSystemErrorMap().get(errno ?? 0) ?? [];
  return ofPaths[code] ?? ofTheSystem[code] ?? described ?? message;
}

const isModule = (name: string): boolean => /\.[cm]?[jt]sx?$/.test(name);
const stem = (name: string): string => name.replace(/\.[^.]*$/, '');

/** Compares names without their extensions: all files of a folder may have the same extension. */
function similar(name: string, names: readonly string[]): string | undefined {
  const stems = names.map(stem);
  const meant = stems.includes(stem(name)) ? stem(name) : nearest(stem(name), stems);
  return names.find((one) => stem(one) === meant);
}

/** Returns a hint: a similar name in the folder, or that the folder does not exist. */
function hintOf(path: string): string {
  const folder = dirname(path);
  try {
    const names = readdirSync(folder);
    // A module is mistaken for a module.
    const alike = isModule(path) ? names.filter(isModule) : [];
    const meant = similar(basename(path), alike) ?? similar(basename(path), names);
    return meant === undefined ? '' : ` (did you mean "${meant}"?)`;
  } catch {
    return statSync(folder, { throwIfNoEntry: false }) === undefined ? ` (nor the folder ${folder})` : '';
  }
}

/** Describes an error: path and reason. */
export function inWords(error: SystemError): string {
  const { code, path, address, port, hostname, isUnwritten } = error;
  const where = path ?? (port === undefined ? (hostname ?? address) : `${address}:${port}`);
  const hint = code === 'ENOENT' && path !== undefined ? hintOf(path) : '';
  const what = isUnwritten ? ' was not written' : '';
  return `${where === undefined ? '' : `${where}${what}: `}${reasonOf(error)}${hint}`;
}

/**
 * Returns the text of a file.
 *
 * @throws PolicyError `limit_exceeded` for a file that is too long for a string; the system's error, with the path
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
