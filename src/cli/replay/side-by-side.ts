/** Two decisions side by side, field by field; fields that differ are marked. */

import { oneLine } from '../../core/ids/printable.ts';
import { fieldPairs } from '../../logs/replay/differences.ts';
import { columnsOfOutput, look } from '../terminal/output.ts';

/** A decision, or any other object; null if a side has none. */
type Side = object | null | undefined;

const text = (value: unknown): string =>
  value === undefined ? '' : oneLine(typeof value === 'string' ? value : JSON.stringify(value));

const cut = (one: string, room: number): string => (one.length <= room ? one : `${one.slice(0, room - 1)}…`);

/** Shortens two texts to a width; texts that differ only later are shown from shortly before their difference. */
function fitted(one: string, other: string, room: number): [string, string] {
  let from = 0;
  if (one !== other && cut(one, room) === cut(other, room)) {
    while (one[from] === other[from]) from += 1;
    from = Math.max(0, from - Math.floor(room / 2));
  }
  const shown = (whole: string): string => cut(from === 0 ? whole : `…${whole.slice(from)}`, room);
  return [shown(one), shown(other)];
}

/** Returns a table of the fields of two objects, with a mark before each field that differs. */
export function sideBySide(
  heads: readonly [string, string],
  one: Side,
  other: Side,
  width = columnsOfOutput(),
): string {
  const isPair = Boolean(one) && Boolean(other);
  const pairs = fieldPairs(one ?? {}, other ?? {}).filter(({ path }) => path !== 'at');
  const label = Math.min(Math.max(...pairs.map(({ path }) => path.length), 0), Math.floor(width / 3));
  const room = Math.floor((width - label - 8) / 2);
  const row = (mark: string, name: string, [a, b]: readonly [string, string]): string =>
    `   ${mark} ${cut(name, label).padEnd(label)} ${a.padEnd(room)} ${b}`.trimEnd();
  return [
    look('dim', row(' ', '', heads)),
    ...pairs.map(({ path, one: a, other: b, isSame }) => {
      const line = row(isSame || !isPair ? ' ' : '*', oneLine(path), fitted(text(a), text(b), room));
      return isSame || !isPair ? line : look('bold', line);
    }),
  ].join('\n');
}
