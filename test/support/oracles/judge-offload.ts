/**
 * A tiny event simulation of layers that are streamed to a GPU while it computes, and all plans there are. It shares no
 * code with the planner: things happen at events, where the planner has a recurrence.
 */

/** What is simulated. */
export interface Offload {
  readonly layers: number;
  readonly streamed: readonly number[];
  readonly buffers: number;
  readonly layerSeconds: number;
  readonly transferSeconds: number;
}

/** When the last layer of a forward pass ends. */
export function simulateOffload({ layers, streamed, buffers, layerSeconds, transferSeconds }: Offload): number {
  const events: { at: number; kind: 'fetched' | 'computed'; layer: number }[] = [];
  const here = new Set(Array.from({ length: layers }, (_, layer) => layer).filter((one) => !streamed.includes(one)));
  const toFetch = [...streamed];
  let freeBuffers = buffers;
  let linkBusy = false;
  let gpuBusy = false;
  let nextLayer = 0;
  let now = 0;
  const start = () => {
    if (!linkBusy && freeBuffers > 0 && toFetch.length > 0) {
      linkBusy = true;
      freeBuffers -= 1;
      events.push({ at: now + transferSeconds, kind: 'fetched', layer: toFetch.shift()! });
    }
    if (!gpuBusy && nextLayer < layers && here.has(nextLayer)) {
      gpuBusy = true;
      events.push({ at: now + layerSeconds, kind: 'computed', layer: nextLayer++ });
    }
  };
  start();
  while (events.length > 0) {
    events.sort((one, other) => other.at - one.at);
    const { at, kind, layer } = events.pop()!;
    now = at;
    if (kind === 'fetched') {
      linkBusy = false;
      here.add(layer);
    } else {
      gpuBusy = false;
      if (streamed.includes(layer)) freeBuffers += 1;
    }
    start();
  }
  if (nextLayer !== layers) throw new Error('the pipeline is stuck');
  return now;
}

/** All ways to choose some of the layers. */
export function subsets(layers: number): number[][] {
  return Array.from({ length: 2 ** layers }, (_, bits) =>
    Array.from({ length: layers }, (__, layer) => layer).filter((layer) => (bits >> layer) % 2 === 1),
  );
}
