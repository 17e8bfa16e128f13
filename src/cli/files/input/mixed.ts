/** Files of different formats where one is expected: says what is what, and which pattern means one of them. */
import { basename, dirname, join } from 'node:path';
import { isPolicyError, PolicyError } from '../../../errors.ts';
import { formatOf } from '../../../sim/trace/import/format-of.ts';
import { matchesName } from './folders.ts';
import type { InputFile } from './paths.ts';
import { recordsOf, textOf, unheard } from './records.ts';

/** Files whose first lines are looked at: more would take longer than the answer is worth. */
const mostLookedAt = 200;
const shownNames = 3;

/** Returns the id of the format of a file, as errors name it; `unknown` if its first record fits none. */
export async function formatIdOf(file: InputFile): Promise<string> {
  try {
    for await (const records of recordsOf(file, unheard())) {
      for (const record of records) {
        const text = textOf(record).trim();
        if (text !== '') return formatOf(text, `${file.name}:${record.number}`).id;
      }
    }
  } catch (error) {
    if (!isPolicyError(error)) throw error;
  }
  return 'unknown';
}

/** Returns the shortest words that mean these files, and none of the others: a folder, a pattern, or their names. */
export function wordsFor(names: readonly string[], others: readonly string[]): string {
  const folders = new Set(names.map((name) => dirname(name)));
  const [folder = '.'] = folders;
  const isAlone =
    folders.size === 1 && !others.some((name) => dirname(name) === folder || name.startsWith(`${folder}/`));
  if (names.length > 1 && isAlone) return folder;
  if (names.length > 1 && folders.size === 1) {
    const own = names.map((name) => basename(name));
    const [begin, end] = [commonStart(own), commonStart(own.map(turned))];
    const pattern = `${begin.replace(/\d+$/, '')}*${turned(end)}`;
    const beside = others.filter((name) => dirname(name) === folder).map((name) => basename(name));
    const fits = (name: string): boolean => matchesName(pattern, name);
    if (own.every(fits) && !beside.some(fits)) return join(folder, pattern);
  }
  const more = names.length - shownNames;
  return [...names.slice(0, shownNames), ...(more > 0 ? [`${more} more`] : [])].join(' ');
}

const turned = (text: string): string => [...text].reverse().join('');

function commonStart([first = '', ...rest]: readonly string[]): string {
  let length = first.length;
  for (const one of rest) while (!one.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}

/** Adds what is what to the error about a file of another format than those before it; returns any other error as it is. */
export async function withChoice(error: unknown, files: readonly InputFile[]): Promise<unknown> {
  if (!(error instanceof PolicyError) || files.length < 2 || !/^the format .*, as in /.test(error.expected))
    return error;
  const byFormat = new Map<string, string[]>();
  for (const file of files.slice(0, mostLookedAt)) {
    const id = await formatIdOf(file);
    byFormat.set(id, [...(byFormat.get(id) ?? []), file.name]);
  }
  const said = [...byFormat].map(([id, names]) => {
    const others = [...byFormat].flatMap(([other, those]) => (other === id ? [] : those));
    return `${wordsFor(names, others)} for ${names.length === 1 ? 'that' : `the ${names.length}`} of ${id}`;
  });
  const rest = files.length > mostLookedAt ? `, of the first ${mostLookedAt} files` : '';
  const expected = `${error.expected} (give those that are meant, by their names or a pattern: ${said.join(', ')}${rest})`;
  return new PolicyError(error.code, { expected, got: error.got.replaceAll('"', ''), path: error.path, cause: error });
}
