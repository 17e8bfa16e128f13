/** FINDMERGECANDIDATES and EXECUTEMERGE (FlexRL, Algorithm 3, lines 16 to 37). */
import { type PaperState, put, take } from './state.ts';

/** DEFAULT_M_CANDIDATES, for which the paper gives no value: most items in one merge. */
const mostMerged = 4;

/** Items of a group, to be divided between its two halves. */
interface Merge {
  readonly halves: readonly [readonly number[], readonly number[]];
  readonly cost: number;
}

/**
 * Implements TOWWAYPACK, which the paper does not define: items, longest first, go to the half with fewer tokens; ties go to the
 * first half.
 */
function twoWayPack(
  lengths: Float64Array,
  ascending: readonly number[],
): { halves: [number[], number[]]; tokens: number[] } {
  const halves: [number[], number[]] = [[], []];
  const tokens = [0, 0];
  for (const item of [...ascending].reverse()) {
    const half = tokens[0]! <= tokens[1]! ? 0 : 1;
    halves[half].push(item);
    tokens[half]! += lengths[item]!;
  }
  return { halves, tokens };
}

/** Implements MERGEFEASIBLE, which the paper does not define: whether each device of the group stays within the memory limit. */
function fits({ instance, memory }: PaperState, level: number, group: number, tokens: readonly number[]): boolean {
  const degree = 2 ** level;
  const half = degree / 2;
  const leaving = (tokens[0]! + tokens[1]!) / degree;
  for (let rank = 0; rank < degree; rank += 1) {
    const coming = tokens[rank < half ? 0 : 1]! / half;
    if (memory[group * degree + rank]! - leaving + coming > instance.memoryCap) return false;
  }
  return true;
}

/** Returns the cheapest candidate; candidates are the 2, 3, … shortest items of a group. Ties go to the fewest items. */
function bestMerge(state: PaperState, level: number, group: number, shortest: readonly number[]): Merge | undefined {
  const { lengths, splitCost } = state.instance;
  let best: Merge | undefined;
  let cost = splitCost[level - 1]![shortest[0]!]! - splitCost[level]![shortest[0]!]!;
  for (let count = 2; count <= shortest.length; count += 1) {
    const last = shortest[count - 1]!;
    cost += splitCost[level - 1]![last]! - splitCost[level]![last]!;
    const { halves, tokens } = twoWayPack(lengths, shortest.slice(0, count));
    if (fits(state, level, group, tokens) && (best === undefined || cost < best.cost)) best = { halves, cost };
  }
  return best;
}

/**
 * Merges at one degree until no candidate is left. Candidates of different groups share no device and no item, so merging group by
 * group gives the same plan as the paper's choice among the candidates of all groups.
 *
 * @param ascending - all items, shortest first
 */
export function mergeAt(state: PaperState, level: number, ascending: readonly number[]): void {
  const { placement, instance } = state;
  const groups = Array.from({ length: instance.devices / 2 ** level }, (): number[] => []);
  for (const item of ascending) if (placement.level[item] === level) groups[placement.group[item]!]!.push(item);
  for (const [group, items] of groups.entries()) {
    for (let from = 0; from + 2 <= items.length; ) {
      const best = bestMerge(state, level, group, items.slice(from, from + mostMerged));
      if (best === undefined) break;
      for (const [half, moved] of best.halves.entries()) {
        for (const item of moved) {
          take(state, item);
          put(state, item, level - 1, 2 * group + half);
        }
        from += moved.length;
      }
    }
  }
}
