/** The pipeline of streamed layers: the seconds of a forward pass, and the choice of streamed layers. */

/** Seconds per layer at the two ends of the pipeline: transfer and computation. */
export interface Pace {
  /** Seconds to compute a layer. */
  readonly layerSeconds: number;
  /** Seconds to transfer the weights of a layer over PCIe. */
  readonly transferSeconds: number;
}

/**
 * Returns the seconds of a forward pass that starts with empty buffers. Transfers run one at a time in the order of the layers; a
 * transfer starts when the link and a buffer are free. A layer starts when the previous layer is done and its own weights have
 * arrived, and frees its buffer at its end.
 *
 * @param layers - number of layers
 * @param streamed - numbers of the streamed layers, from 0, ascending
 * @param depth - number of buffers, >= 1 if any layer is streamed
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
 * Chooses `count` layers to stream. The first `lead` layers stay resident; the others are divided into equal stretches, and the
 * last layer of each stretch is streamed. The lead lets the first transfers run ahead; in each stretch, the resident layers hide
 * the transfer.
 */
export function spread(layers: number, count: number, lead: number): number[] {
  const rest = layers - lead;
  return Array.from({ length: count }, (_, index) => lead + Math.ceil(((index + 1) * rest) / count) - 1);
}
