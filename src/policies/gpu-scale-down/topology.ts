/** Which GPUs hang together: what may be released as a whole only, and which servers that touches. */
import type { PlacedEngine } from '../../schemas/gpus.ts';
import type { ScaleDownConfig } from './schema.ts';

/** An engine that rolls out, in the order of servers and engines. */
export interface Engine {
  readonly engineId: string;
  readonly serverId: string;
  readonly gpuIds: readonly string[];
  /** What its KV cache holds, in tokens. */
  readonly capacityTokens: number;
}

/** Engines that no release may part, by their places: a tensor-parallel or communication group joins them. */
export interface Topology {
  /** By server id, then by engine id. */
  readonly engines: readonly Engine[];
  readonly placeOf: ReadonlyMap<string, number>;
  /** By the least place in them. */
  readonly units: readonly (readonly number[])[];
}

const byId = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The topology of these engines. */
export function topologyOf(placed: readonly PlacedEngine[], config: ScaleDownConfig): Topology {
  const engines = placed
    .map(({ engineId, serverId, gpuIds, kvCapacityTokens, kvCapacityBytes = 0 }) => ({
      engineId,
      serverId,
      gpuIds: [...gpuIds],
      capacityTokens: kvCapacityTokens ?? Math.floor(kvCapacityBytes / config.bytesPerToken!),
    }))
    .sort((a, b) => byId(a.serverId, b.serverId) || byId(a.engineId, b.engineId));
  const placeOf = new Map(engines.map((engine, place) => [engine.engineId, place]));
  const ofGpu = new Map(engines.flatMap((engine, place) => engine.gpuIds.map((gpu) => [gpu, place] as const)));
  // Groups come with the first engines.
  const given = engines.length > 0 ? config.communicationGroups : [];
  const groups = given.map((group) => group.map((gpu) => ofGpu.get(gpu)!));
  return { engines, placeOf, units: joined(engines.length, groups) };
}

/** Places 0 to n − 1, joined where they are in one group. */
function joined(n: number, groups: readonly (readonly number[])[]): number[][] {
  const root = Array.from({ length: n }, (_, place) => place);
  const find = (place: number): number => {
    let at = place;
    while (root[at] !== at) at = root[at] = root[root[at]!]!;
    return at;
  };
  for (const group of groups) {
    for (const place of group) {
      const [a, b] = [find(group[0]!), find(place)];
      root[Math.max(a, b)] = Math.min(a, b);
    }
  }
  const units = new Map<number, number[]>();
  for (let place = 0; place < n; place += 1) {
    const unit = units.get(find(place));
    if (unit === undefined) units.set(place, [place]);
    else unit.push(place);
  }
  return [...units.values()];
}
