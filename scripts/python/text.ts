/** Python source: names, docstrings, and lists that are as wide as they may be. */
import { className, wrapped } from '../text.ts';

/** The longest line. */
export const widest = 120;

/** `tail-batching` as `tail_batching`. */
export const moduleName = (id: string): string => id.replaceAll(/[^A-Za-z0-9]+/g, '_');

/** `entries` as `Entry`: an item of a list, by the name of the list. */
export function itemName(field: string): string {
  const name = className(field);
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`;
  return name.endsWith('s') && !name.endsWith('ss') ? name.slice(0, -1) : `${name}Item`;
}

const quotes = '"""';

/** A docstring, indented. */
export function docstring(text: string, indent: string): string[] {
  const safe = text.replaceAll('\\', '\\\\').replaceAll(quotes, "'''");
  // A quote before those that end it would be one of them.
  const whole = `${quotes}${safe}${safe.endsWith('"') ? ' ' : ''}${quotes}`;
  return wrapped(whole, widest - indent.length).map((line) => indent + line);
}

/** Text as comments, indented. */
export function comment(text: string, indent: string): string[] {
  return wrapped(text, widest - indent.length).map((line) => `${indent}# ${line}`);
}

/** Names with commas, in as few lines as they need. */
export function filled(names: readonly string[], indent: string): string[] {
  return wrapped(`${names.join(', ')},`, widest - indent.length).map((line) => indent + line);
}

/** `from x import a, b`, broken where it is long. */
export function importLine(module: string, names: Iterable<string>): string {
  const sorted = [...new Set(names)].sort();
  const line = `from ${module} import ${sorted.join(', ')}`;
  return line.length <= widest ? line : [`from ${module} import (`, ...filled(sorted, '    '), ')'].join('\n');
}

/** A union under a name. */
export function union(name: string, members: readonly string[], about: string): string {
  const doc = docstring(about, '').join('\n');
  const unique = [...new Set(members)];
  if (unique.length === 1) return `${name}: TypeAlias = ${unique[0]}\n${doc}`;
  return [`${name}: TypeAlias = Union[`, ...filled(unique, '    '), ']', doc].join('\n');
}

const keywords = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if ' +
    'import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);

/** Whether a key can be a field of a class. */
export const isField = (key: string): boolean => /^[A-Za-z_]\w*$/.test(key) && !keywords.has(key);
