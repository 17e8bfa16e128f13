/** Kendall's rank correlation. */

/** A predicted and a measured value, and by what pairs are chosen. */
export type Pair = readonly [predicted: number, measured: number, group: number];

/**
 * Returns Kendall's tau-b of predicted and measured values over the pairs inside of each group: agreeing less disagreeing pairs, over
 * the root of those that are no ties on either side. Null where there are none.
 */
export function tauB(
  groups: readonly (readonly Pair[])[],
  counts: (a: Pair, b: Pair) => boolean = () => true,
): number | null {
  let [agreeing, untied, onlyPredicted, onlyMeasured] = [0, 0, 0, 0];
  for (const group of groups) {
    for (const [index, a] of group.entries()) {
      for (let other = 0; other < index; other += 1) {
        const b = group[other]!;
        if (!counts(a, b)) continue;
        const [p, m] = [Math.sign(a[0] - b[0]), Math.sign(a[1] - b[1])];
        agreeing += p * m;
        if (p !== 0 && m !== 0) untied += 1;
        else if (p !== 0) onlyPredicted += 1;
        else if (m !== 0) onlyMeasured += 1;
      }
    }
  }
  const norm = Math.sqrt((untied + onlyPredicted) * (untied + onlyMeasured));
  return norm === 0 ? null : agreeing / norm;
}
