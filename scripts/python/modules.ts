/** Modules of `rollflex.models`: their texts, and the index that finds every name. */
import { wrapped } from '../text.ts';
import { importLine, widest } from './text.ts';

/** The first line of every generated file. */
export const head = '# Generated from the schemas by `npm run docs:generate`: do not edit.';

/** A module: its path below `rollflex/models`, and the names that others may import from it. */
export interface Module {
  readonly path: string;
  readonly names: readonly string[];
  readonly text: string;
}

const typing = ['Any', 'Literal', 'TypeAlias', 'Union'];

/** The text of a module at a path below `rollflex/models`, with what it imports from others there. */
export function moduleText(
  about: string,
  parts: readonly string[],
  imports: ReadonlyMap<string, Iterable<string>>,
  path: string,
) {
  const body = parts.join('\n\n\n');
  const uses = (word: string) => new RegExp(`\\b${word}\\b`).test(body);
  // Annotations that are evaluated: only so do the classes know at run time which keys may be missing.
  const lines = [head, `"""${about}"""`, ''];
  const abc = ['Mapping', 'Sequence'].filter(uses);
  if (abc.length > 0) lines.push(importLine('collections.abc', abc));
  const used = typing.filter(uses);
  if (used.length > 0) lines.push(importLine('typing', used));
  if (abc.length + used.length > 0) lines.push('');
  const own = new Map<string, Iterable<string>>(imports);
  own.set(
    '_typing',
    ['NotRequired', 'TypedDict'].filter((word) => uses(word)),
  );
  const [family] = path.split('/');
  for (const [module, names] of [...own].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if ([...names].length === 0) continue;
    const isNear = path.includes('/') && module.startsWith(`${family}/`);
    const from = isNear ? module.slice(family!.length + 1) : module.replace('/', '.');
    lines.push(importLine(`${path.includes('/') && !isNear ? '..' : '.'}${from}`, names));
  }
  return `${lines.join('\n')}\n\n\n${body}\n`;
}

/** `rollflex.models` itself: every name, found when it is asked for. */
export function indexText(modules: readonly Module[]): string {
  const where = new Map<string, string>();
  for (const { path, names } of modules) {
    for (const name of names) {
      if (where.has(name)) throw new Error(`${name} is in ${path} and in ${where.get(name)}`);
      where.set(name, path);
    }
  }
  const dotted = (path: string): string => path.replace('/', '.');
  return [
    head,
    '"""Types of everything that goes over the wire: events, decisions, configurations, snapshots, inputs and plans."""',
    '',
    'from __future__ import annotations',
    '',
    'from importlib import import_module',
    'from typing import TYPE_CHECKING, Any',
    '',
    'if TYPE_CHECKING:',
    ...modules.map(({ path }) => `    from .${dotted(path)} import *`),
    'else:',
    '    # All of them at once would cost every program a tenth of a second.',
    '    def __getattr__(name: str) -> Any:',
    '        if name in _where:',
    '            return getattr(import_module(f".{_where[name]}", __name__), name)',
    '        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")',
    '',
    '',
    '_names = {',
    ...modules.flatMap(({ path, names }) => nameLines(dotted(path), names)),
    '}',
    '_where = {name: module for module, names in _names.items() for name in names.split()}',
    '__all__ = [*_where]',
    '',
  ].join('\n');
}

function nameLines(module: string, names: readonly string[]): string[] {
  const line = `    "${module}": "${names.join(' ')}",`;
  if (line.length <= widest) return [line];
  return [`    "${module}": """`, ...wrapped(names.join(' '), widest - 8).map((one) => `        ${one}`), '    """,'];
}
