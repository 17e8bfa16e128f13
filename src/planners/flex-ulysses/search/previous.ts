/** Starts from an earlier plan, for a batch that has changed little. */
import type { FlexUlyssesSettings } from '../schema.ts';
import { type Layout, leastLoaded } from './layout.ts';

type Previous = NonNullable<FlexUlyssesSettings['previous']>;

/** The level and group of an assignment, if it is one of this problem's: an aligned group of an admissible degree. */
function placeOf(
  { degree, devices }: Previous['assignments'][number],
  { problem }: Layout,
): { readonly level: number; readonly group: number } | undefined {
  const level = Math.log2(degree);
  const first = devices[0]!;
  if (!Number.isInteger(level) || level >= problem.levels || devices.length !== degree) return undefined;
  if (first % degree !== 0 || first + degree > problem.devices) return undefined;
  return { level, group: first / degree };
}

/**
 * Puts each item where its sequence was, at a higher degree if it no longer fits alone. What is new, or was elsewhere
 * than this problem has groups, goes whole to the least loaded device.
 */
export function putPrevious(layout: Layout, { assignments }: Previous): void {
  const { problem } = layout;
  const itemOf = new Map(problem.sequence.map((sequence, item) => [sequence, item]));
  layout.clear();
  for (const assignment of assignments) {
    const item = itemOf.get(assignment.sequence);
    const place = placeOf(assignment, layout);
    if (item === undefined || place === undefined || layout.group[item]! >= 0) continue;
    const level = Math.max(place.level, problem.least[item]!);
    layout.put(item, level, place.group >> (level - place.level));
  }
  for (let item = 0; item < problem.items; item += 1) {
    if (layout.group[item]! >= 0) continue;
    const device = leastLoaded(layout, item, 0, problem.devices);
    const level = problem.least[item]!;
    layout.put(item, level, device >> level);
  }
}
