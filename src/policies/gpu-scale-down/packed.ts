/** What is at a place, packed for the projection: it is read once for every time. */
import type { Loads } from './load.ts';

/** The groups of a place that have requests, as indices, and what is in them. */
export interface Packed {
  readonly size: number;
  readonly at: Int32Array;
  readonly count: Float64Array;
  readonly kv: Float64Array;
  readonly kvSquared: Float64Array;
}

/** What is at a place, without groups that have none. */
export function packedAt(loads: Loads, place: number, groups: readonly number[]): Packed {
  const most = groups.length;
  const [mine, count, kv] = [new Int32Array(most), new Float64Array(most), new Float64Array(most)];
  const kvSquared = new Float64Array(most);
  let size = 0;
  for (let at = 0; at < most; at += 1) {
    const group = groups[at]!;
    const n = loads.count(place, group);
    if (n === 0) continue;
    mine[size] = at;
    count[size] = n;
    kv[size] = loads.kv(place, group);
    kvSquared[size] = loads.kvSquared(place, group);
    size += 1;
  }
  return { size, at: mine, count, kv, kvSquared };
}
