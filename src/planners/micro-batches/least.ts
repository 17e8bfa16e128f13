/** Computes a lower bound on the number of micro-batches. */

/** Returns the first index of an ascending list whose value is not below (`above`: is above) a limit. */
function firstFrom(ascending: Float64Array, limit: number, above: boolean): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const value = ascending[middle]!;
    if (above ? value > limit : value >= limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Returns the fewest bins that hold the sizes (Martello and Toth's L2): no two sizes above half of the cap share a bin, and the
 * room beside these sizes is bounded. The result is at least the sum ÷ cap.
 *
 * @param sizes - each at most the cap
 */
export function leastBins(sizes: readonly number[], cap: number): number {
  if (sizes.length === 0) return 0;
  const ascending = Float64Array.from(sizes).sort();
  const upTo = new Float64Array(ascending.length + 1);
  for (const [at, size] of ascending.entries()) upTo[at + 1] = upTo[at]! + size;
  const n = ascending.length;
  const half = firstFrom(ascending, cap / 2, true);
  let least = Math.max(1, n - half);
  for (let at = 0; at < half; at = firstFrom(ascending, ascending[at]!, true)) {
    // Counts only the sizes from `at` on: sizes above cap − `ascending[at]` cannot share a bin with any of these.
    const alone = firstFrom(ascending, cap - ascending[at]!, true);
    const room = (alone - half) * cap - (upTo[alone]! - upTo[half]!);
    const rest = upTo[half]! - upTo[at]! - room;
    least = Math.max(least, n - half + Math.max(0, Math.ceil(rest / cap)));
  }
  return least;
}
