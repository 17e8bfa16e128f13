/** The pipeline of streamed layers: the seconds of a forward pass, and the choice of streamed layers. */

/** Speeds of the two ends of the pipeline. */
export interface Pace {
  /** Seconds in which a layer is computed. */
  readonly layerSeconds: number;
  /** Seconds in which a layer's weights come over PCIe. */
  readonly transferSeconds: number;
}

/**
 * Returns the seconds of a forward pass that starts with empty buffers. Transfers go one at a time in the order of the
 * layers; one starts when the link and a buffer are free. A layer starts when the one before is done and its weights
 * are there, and frees its buffer at its end.
 *
 * @param layers - how many
 * @param streamed - those that are streamed, from 0, ascending
 * @param depth - buffers, >= 1 if any is streamed
 */
export function pipelinedSeconds(layers: number, streamed: readonly number[], depth: number, pace: Pace): number {
  const { layerSeconds, transferSeconds } = pace;
  const doneAt: number[] = [];
  let fetchedAt = 0;
  let computedAt = 0;
  let next = 0;
  for (const layer of streamed) {
    computedAt += (layer - next) * layerSeconds;
    const bufferFreeAt = doneAt[doneAt.length - depth] ?? 0;
    fetchedAt = Math.max(fetchedAt, bufferFreeAt) + transferSeconds;
    computedAt = Math.max(computedAt, fetchedAt) + layerSeconds;
    doneAt.push(computedAt);
    next = layer + 1;
  }
  return computedAt + (layers - next) * layerSeconds;
}

/**
 * Chooses `count` of the layers: none of the first `lead`, and from there on as evenly as can be, each at the end of
 * its stretch. The lead lets the first transfers run ahead; even stretches let each later one hide behind the resident
 * layers before it.
 */
export function spread(layers: number, count: number, lead: number): number[] {
  const rest = layers - lead;
  return Array.from({ length: count }, (_, index) => lead + Math.ceil(((index + 1) * rest) / count) - 1);
}
