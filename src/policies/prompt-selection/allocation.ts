/** How many responses each prompt of a round gets: one more goes to where it is expected to teach most for its tokens. */
import { Heap } from '../../core/collections/heap.ts';

/** A prompt that gets responses. */
export interface Share {
  /** Returns what n responses teach: concave in n, so that going step by step finds the best. */
  value(n: number): number;
  /** What one response costs, > 0: a step is the better, the more it teaches for it. */
  readonly cost: number;
  /** What one response takes of the budget, >= 0. */
  readonly size: number;
}

/** How much there is to share out. */
export interface Budget {
  readonly least: number;
  readonly most: number;
  /** Most responses of all prompts together. */
  readonly responses: number;
  /** Most of all sizes together. */
  readonly total: number;
}

/** Shares responses out: returns their numbers, in the order of the prompts; each has `least` of them in any case. */
export function shareOut(prompts: readonly Share[], { least, most, responses, total }: Budget): number[] {
  const counts = prompts.map(() => least);
  let left = responses - least * prompts.length;
  let room = total - prompts.reduce((sum, { size }) => sum + size * least, 0);
  if (most === least || left <= 0) return counts;
  const gainOf = (index: number): number => {
    const { value, cost } = prompts[index]!;
    const n = counts[index]!;
    return (value(n + 1) - value(n)) / cost;
  };
  const next = new Heap<{ index: number; gain: number }>((a, b) => b.gain - a.gain || a.index - b.index);
  for (let index = 0; index < prompts.length; index += 1) next.push({ index, gain: gainOf(index) });
  for (let best = next.pop(); best !== undefined && left > 0; best = next.pop()) {
    const { index } = best;
    const { size } = prompts[index]!;
    if (size > room) continue;
    counts[index]! += 1;
    left -= 1;
    room -= size;
    if (counts[index]! < most) next.push({ index, gain: gainOf(index) });
  }
  return counts;
}
