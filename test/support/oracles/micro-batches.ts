/** What is wrong with a plan of micro-batches, recomputed from the input alone; and the fewest there can be, by trying. */
import type { MicroBatchesInput, MicroBatchesPlan } from '../../../src/planners/micro-batches/index.ts';
import { close } from '../basics/numbers.ts';

/** Work of a whole sequence; polynomials only. */
export function workOfLength(
  { compute = { perToken: 24_576, perTokenSquared: 1 } }: MicroBatchesInput,
  length: number,
) {
  if (Array.isArray(compute)) throw new Error('the checker knows polynomials only');
  const { base = 0, perToken = 0, perTokenSquared = 0 } = compute as Record<string, number>;
  return length === 0 ? 0 : base + perToken * length + perTokenSquared * length * length;
}

/** How many ranks share a sequence. */
const degreeOf = ({ assignments }: MicroBatchesInput, sequence: number) =>
  assignments?.find((one) => one.sequence === sequence)?.degree ?? 1;

const lengthsOf = (input: MicroBatchesInput, rank: number) => input.lengthsByRank?.[rank] ?? input.lengths!;

/** Each sequence is where it must be, once. */
function coverProblems(input: MicroBatchesInput, { ranks }: MicroBatchesPlan): string[] {
  const problems: string[] = [];
  const placesOf = new Map<string, number[][]>();
  for (const [rank, { microBatches }] of ranks.entries()) {
    for (const [at, { sequences }] of microBatches.entries()) {
      for (const sequence of sequences) {
        const key = input.lengthsByRank === undefined ? `${sequence}` : `${rank}/${sequence}`;
        placesOf.set(key, [...(placesOf.get(key) ?? []), [rank, at]]);
      }
    }
  }
  const expected = input.lengthsByRank?.flatMap((own, rank) => own.map((_, index) => `${rank}/${index}`));
  for (const key of expected ?? input.lengths!.map((_, index) => `${index}`)) {
    const places = placesOf.get(key) ?? [];
    placesOf.delete(key);
    const devices = input.assignments?.find((one) => `${one.sequence}` === key)?.devices;
    if (places.length !== (devices?.length ?? 1)) problems.push(`sequence ${key} is in ${places.length} places`);
    if (devices !== undefined && places.map(([rank]) => rank).join() !== devices.join()) {
      problems.push(`sequence ${key} is on ranks ${places.map(([rank]) => rank)}, not on ${devices}`);
    }
    if (new Set(places.map(([, at]) => at)).size > 1) problems.push(`sequence ${key} is in several micro-batches`);
  }
  for (const key of placesOf.keys()) problems.push(`there is no sequence ${key}`);
  return problems;
}

/** Cap, flags, loads and metrics. */
function loadProblems(input: MicroBatchesInput, { ranks, metrics, count }: MicroBatchesPlan): string[] {
  const problems: string[] = [];
  const cap = input.maxTokensPerMicroBatch;
  const expected = { maxTokens: 0, maxWork: 0, totalWork: 0, lockstepWork: 0, empty: 0 };
  const most = new Float64Array(count);
  for (const [rank, { microBatches }] of ranks.entries()) {
    for (const [at, one] of microBatches.entries()) {
      const name = `ranks[${rank}].microBatches[${at}]`;
      const shares = one.sequences.map((sequence) => lengthsOf(input, rank)[sequence]! / degreeOf(input, sequence));
      const tokens = shares.reduce((sum, share) => sum + share, 0);
      const work = one.sequences.reduce((sum, sequence) => {
        return sum + workOfLength(input, lengthsOf(input, rank)[sequence]!) / degreeOf(input, sequence);
      }, 0);
      const over = shares.some((share) => share > cap);
      if (over && input.overlong !== 'alone') problems.push(`${name} has a sequence above the cap`);
      if (over && shares.filter((share) => share > 0).length > 1)
        problems.push(`${name} has more beside one above the cap`);
      if (!over && tokens > cap) problems.push(`${name} has ${tokens} tokens, above ${cap}`);
      if (one.overCap !== over) problems.push(`${name}.overCap is ${one.overCap}`);
      if (one.empty !== (one.sequences.length === 0)) problems.push(`${name}.empty is ${one.empty}`);
      if (one.sequences.some((sequence, index) => index > 0 && sequence <= one.sequences[index - 1]!)) {
        problems.push(`${name} is not ascending`);
      }
      if (!close(one.tokens, tokens)) problems.push(`${name}.tokens is ${one.tokens}, not ${tokens}`);
      if (!close(one.work, work)) problems.push(`${name}.work is ${one.work}, not ${work}`);
      expected.maxTokens = Math.max(expected.maxTokens, tokens);
      expected.maxWork = Math.max(expected.maxWork, work);
      expected.totalWork += work;
      if (one.sequences.length === 0) expected.empty += 1;
      most[at] = Math.max(most[at]!, work);
    }
  }
  expected.lockstepWork = most.reduce((sum, one) => sum + one, 0);
  for (const [name, value] of Object.entries(expected)) {
    const got = metrics[name as keyof typeof expected];
    if (!close(got, value)) problems.push(`metrics.${name} is ${got}, not ${value}`);
  }
  return problems;
}

/** Everything that is wrong with a plan, as phrases; none for a valid plan. */
export function microBatchProblems(input: MicroBatchesInput, plan: MicroBatchesPlan): string[] {
  const problems: string[] = [];
  const ranks = input.lengthsByRank?.length ?? input.ranks!;
  if (plan.ranks.length !== ranks) problems.push(`${plan.ranks.length} ranks`);
  for (const [rank, { microBatches }] of plan.ranks.entries()) {
    if (microBatches.length !== plan.count) problems.push(`rank ${rank} has ${microBatches.length} micro-batches`);
  }
  if (plan.count % (input.divisibleBy ?? 1) !== 0) problems.push(`${input.divisibleBy} does not divide ${plan.count}`);
  if (plan.count < (input.minMicroBatches ?? 0)) problems.push(`only ${plan.count} micro-batches`);
  if (plan.bounds.count > plan.count) problems.push(`bounds.count ${plan.bounds.count} is above ${plan.count}`);
  if (problems.length > 0) return problems;
  const uncovered = coverProblems(input, plan);
  return uncovered.length > 0 ? uncovered : loadProblems(input, plan);
}

/** The fewest bins, by the fewest bins and the least filled last one of every subset. */
export function fewestBins(sizes: readonly number[], cap: number): number {
  const best: [number, number][] = [[0, cap]];
  for (let subset = 1; subset < 1 << sizes.length; subset += 1) {
    let least: [number, number] = [Number.POSITIVE_INFINITY, 0];
    for (const [index, size] of sizes.entries()) {
      if ((subset & (1 << index)) === 0) continue;
      const [bins, used] = best[subset ^ (1 << index)]!;
      const next: [number, number] = bins > 0 && used + size <= cap ? [bins, used + size] : [bins + 1, size];
      if (next[0] < least[0] || (next[0] === least[0] && next[1] < least[1])) least = next;
    }
    best.push(least);
  }
  return best.at(-1)![0];
}

/** A sequence on neighbouring ranks, with what each of them has of it. */
export interface Shared {
  readonly first: number;
  readonly width: number;
  readonly tokens: number;
}

/** The fewest micro-batches of ranks that share sequences, by trying every choice. */
export function fewestShared(items: readonly Shared[], ranks: number, cap: number): number {
  if (items.length === 0) return 0;
  const place = (at: number, loads: number[][]): boolean => {
    const item = items[at];
    if (item === undefined) return true;
    for (const [slot, load] of loads.entries()) {
      if (load.some((tokens, rank) => on(item, rank) && tokens + item.tokens > cap)) continue;
      const next = load.map((tokens, rank) => tokens + (on(item, rank) ? item.tokens : 0));
      if (place(at + 1, loads.with(slot, next))) return true;
    }
    return false;
  };
  const on = ({ first, width }: Shared, rank: number) => rank >= first && rank < first + width;
  for (let count = 1; ; count += 1) {
    const empty = Array.from({ length: count }, () => new Array<number>(ranks).fill(0));
    if (place(0, empty)) return count;
  }
}

/** The least work of the micro-batch that has most, over all ways to fill so many. */
export function leastMaxWork(works: readonly number[], count: number): number {
  const loads = new Array<number>(count).fill(0);
  let best = Number.POSITIVE_INFINITY;
  const place = (at: number): void => {
    if (Math.max(...loads) >= best) return;
    if (at === works.length) {
      best = Math.max(...loads);
      return;
    }
    for (let slot = 0; slot < count; slot += 1) {
      loads[slot]! += works[at]!;
      place(at + 1);
      loads[slot]! -= works[at]!;
      if (loads[slot] === 0) break;
    }
  };
  place(0);
  return best;
}
