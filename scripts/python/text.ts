/** Python source: names, docstrings, and lists that are as wide as they may be. */
import { className, wrapped } from '../text.ts';

const widest = 110;

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
  const lines = wrapped(safe, widest - indent.length);
  if (lines.length === 1 && !safe.endsWith('"')) return [`${indent}${quotes}${safe}${quotes}`];
  return [`${indent}${quotes}`, ...lines.map((line) => indent + line), indent + quotes];
}

/** Text as comments, indented. */
export function comment(text: string, indent: string): string[] {
  return wrapped(text, widest - indent.length).map((line) => `${indent}# ${line}`);
}

/** `from x import a, b`, broken where it is long. */
export function importLine(module: string, names: Iterable<string>): string {
  const sorted = [...new Set(names)].sort();
  const line = `from ${module} import ${sorted.join(', ')}`;
  if (line.length <= widest) return line;
  return `from ${module} import (\n${sorted.map((name) => `    ${name},\n`).join('')})`;
}

/** A union under a name. */
export function union(name: string, members: readonly string[], about: string): string {
  const doc = docstring(about, '').join('\n');
  const unique = [...new Set(members)];
  if (unique.length === 1) return `${name}: TypeAlias = ${unique[0]}\n${doc}`;
  return `${name}: TypeAlias = Union[\n${unique.map((one) => `    ${one},\n`).join('')}]\n${doc}`;
}

const keywords = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if ' +
    'import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);

/** Whether a key can be a field of a class. */
export const isField = (key: string): boolean => /^[A-Za-z_]\w*$/.test(key) && !keywords.has(key);
