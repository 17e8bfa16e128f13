/** Reads a JSON file of the user, and reports errors with file, line and field. */
import { type DocumentNode, parse as syntaxOf, type ValueNode } from '@humanwhocodes/momoa';
import { isPolicyError, refuse, relocated } from '../../errors.ts';
import { readText } from '../terminal/system-errors.ts';

/** A JSON file. */
export interface JsonFile {
  readonly value: unknown;
  /** Runs `work` on the value; the path of its errors then begins with file and line. */
  within<T>(work: () => T): T;
}

/**
 * Reads a JSON file.
 *
 * @param expected - a description of the expected value, for the message
 * @param text - the content, if it is already read
 * @throws PolicyError `invalid_input` with file and line; the system's error
 */
export function readJson(path: string, expected: string, text = readText(path)): JsonFile {
  // Some editors begin a file with a byte order mark, which JSON does not allow.
  const json = text.replace(/^\uFEFF/, '');
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    if (json.trim() === '') refuse('invalid_input', path, expected, undefined);
    const got = (cause as Error).message.replace(/ in JSON at position.*$/s, '');
    refuse('invalid_input', `${path}:${brokenLine(json)}`, expected, got, cause);
  }
  const within = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (!isPolicyError(error)) throw error;
      throw relocated(error, locationOf(error.path, path, json));
    }
  };
  return { value, within };
}

function brokenLine(json: string): number {
  const lines = json.trimEnd().split('\n').length;
  try {
    syntaxOf(json);
  } catch (error) {
    const { line, message } = error as Error & { readonly line?: number };
    // An unexpected end of the file is reported at the line where the value begins.
    if (line !== undefined && !message.startsWith('Unexpected end')) return line;
  }
  return lines;
}

/** Returns `file.json:12.rollouts[1].seconds`, with the line of the field or, if the field is missing, of its parent. */
function locationOf(field: string, file: string, json: string): string {
  if (field === '') return file;
  const line = lineOf(syntaxOf(json), field.match(/[^.[\]]+/g) ?? []);
  return line === undefined ? `${file}: ${field}` : `${file}:${line}.${field}`;
}

/** Returns nothing if the file lacks even the first part of the path: the error is then about a value derived from the file. */
function lineOf({ body }: DocumentNode, steps: readonly string[]): number | undefined {
  let at: ValueNode | undefined;
  for (const step of steps) {
    const from: ValueNode = at ?? body;
    const next = from.type === 'Array' ? from.elements[Number(step)]?.value : memberOf(from, step);
    if (next === undefined) break;
    at = next;
  }
  return at?.loc.start.line;
}

function memberOf(node: ValueNode, key: string): ValueNode | undefined {
  if (node.type !== 'Object') return undefined;
  const found = node.members.find(({ name }) => (name.type === 'String' ? name.value : name.name) === key);
  return found?.value;
}
