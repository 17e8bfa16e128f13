/** Deals a whole batch out to ranks. */
import { karmarkarKarp } from '../../core/numeric/karmarkar-karp.ts';

/**
 * Deals sequences out to ranks of nearly equal load, with numbers of sequences that differ by at most one: Karmarkar-Karp with
 * equal sizes, after sequences of load 0 have filled up the batch. The filling sequences are fewer than the ranks and sort first,
 * so the first round of the method gives each rank at most one of them.
 *
 * @param loads - load of each sequence, >= 0
 * @returns the sequences of each rank, ascending; ranks by descending load
 */
export function deal(loads: readonly number[], ranks: number): number[][] {
  const missing = (ranks - (loads.length % ranks)) % ranks;
  const filled = [...new Array<number>(missing).fill(0), ...loads];
  return karmarkarKarp(filled, ranks, { equalSize: true }).map((subset) =>
    subset.filter((index) => index >= missing).map((index) => index - missing),
  );
}
