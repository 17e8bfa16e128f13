/** Modules of generated types. */
import { posix } from 'node:path';
import { wrapped } from '../text.ts';

/** The first line of every generated module. */
export const head = '// Generated from the schemas by `npm run docs:generate`: do not edit.';

const widest = 120;

/** The formatter sorts letter by letter, a capital before the same letter without. */
const orderOf = (name: string): string =>
  name.replaceAll(/./g, (one) => one.toLowerCase() + (/[A-Z]/.test(one) ? 0 : 1));

/** A list in lines as long as they may be. */
const filled = (text: string): string[] => wrapped(text, widest - 2).map((line) => `  ${line}`);

/** `import type` of names, in as few lines as they need. */
function importOf(from: string, module: string, names: Iterable<string>): string {
  const path = posix.relative(posix.dirname(from), module);
  const sorted = [...new Set(names)].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  const source = `from '${path.startsWith('.') ? path : `./${path}`}';`;
  const line = `import type { ${sorted.join(', ')} } ${source}`;
  if (line.length <= widest) return line;
  return ['import type {', ...filled(`${sorted.join(', ')},`), `} ${source}`].join('\n');
}

/** Imports of types from the modules that declare them: what is farther away comes first. */
export function importsOf(file: string, used: Iterable<{ readonly name: string; readonly module: string }>): string[] {
  const byModule = new Map<string, string[]>();
  for (const { name, module } of used) {
    if (module === file) continue;
    byModule.set(module, [...(byModule.get(module) ?? []), name]);
  }
  const up = (module: string): number => posix.relative(posix.dirname(file), module).split('../').length;
  return [...byModule]
    .sort(([a], [b]) => up(b) - up(a) || (a < b ? -1 : 1))
    .map(([module, names]) => importOf(file, module, names));
}

/** The text of a module. */
export function moduleText(about: string, imports: readonly string[], declarations: readonly string[]): string {
  const top = [head, `/** ${about} */`, ...imports].join('\n');
  return `${[top, ...declarations].join('\n\n')}\n`;
}

/** A union under a name, in as few lines as it needs. */
export function unionOf(name: string, members: readonly string[]): string {
  const line = `export type ${name} = ${members.join(' | ')};`;
  if (members.length === 0) return `export type ${name} = never;`;
  if (line.length <= widest) return line;
  // A bar stays beside its member.
  const lines = filled(`${members.map((one) => `|~${one}`).join(' ')};`);
  return [`export type ${name} =`, ...lines.map((one) => one.replaceAll('|~', '| '))].join('\n');
}
