/**
 * Chooses the engines to release: half of the GPUs, without splitting a unit. The preferred choice splits the fewest servers
 * between rollout and training, then moves the fewest tokens, then takes the first engines in the order of servers.
 *
 * Units are decided one after the other. The possible continuations depend only on the GPUs taken so far and on the servers that
 * still have undecided units. So among ways that agree in both, only the best are kept: as many as the requested number of
 * choices.
 */
import type { Topology } from './state.ts';

/** Status and tokens of the engines to choose from. */
export interface ChoiceInput {
  /** Whether the engine with this index is up. A unit with an engine that is not up is never released. */
  isUp(engineIndex: number): boolean;
  /** Tokens to move, by the index of the engine: prompt and response. */
  readonly tokens: ArrayLike<number>;
}

/** Servers with equal units, treated as one. */
interface ServerClass {
  readonly weight: number;
  readonly first: number;
  readonly last: number;
}

/** A choice for the units decided so far. */
interface Way {
  readonly gpus: number;
  /** One digit per open server class: 0 kept so far, 1 taken so far, 2 split. */
  readonly servers: number;
  readonly split: number;
  readonly tokens: number;
  /** Twice the rank of `before`, plus 1 if the unit is kept; this number orders ways by the first units that they take. */
  readonly tie: number;
  readonly taken: boolean;
  readonly before: Way | undefined;
  rank: number;
}

// Limits: further servers that are open at once are ignored, and only the best ways are continued. Clusters of whole servers, and
// clusters whose replicas stride over all servers, stay far below them.
const maxOpen = 20;
const maxWays = 5000;

const better = (a: Way, b: Way): number => a.split - b.split || a.tokens - b.tokens || a.tie - b.tie;

/** Counts the GPUs of the rollout, and the GPUs to release. */
export function wantedGpus(
  { engines }: Topology,
  isUp: (engineIndex: number) => boolean,
): { gpus: number; wanted: number } {
  let gpus = 0;
  for (let engineIndex = 0; engineIndex < engines.length; engineIndex += 1)
    if (isUp(engineIndex)) gpus += engines[engineIndex]!.gpuIds.length;
  return { gpus, wanted: gpus >> 1 };
}

/**
 * Returns the best choices, best first; each is the list of engines to release, ascending. Empty if no choice has exactly half of
 * the GPUs (floor).
 *
 * @param most - limit on the number of choices
 */
export function chooseEngines(topology: Topology, input: ChoiceInput, most: number): number[][] {
  const { engines, units } = topology;
  const { wanted } = wantedGpus(topology, input.isUp);
  if (wanted === 0) return [];
  const { classes, touched } = serverClasses(topology, input.isUp);
  const slots = slotsOf(classes);
  let ways: Way[] = [{ gpus: 0, servers: 0, split: 0, tokens: 0, tie: 0, taken: false, before: undefined, rank: 0 }];
  for (const [at, unit] of units.entries()) {
    const releasable = unit.every((engineIndex) => input.isUp(engineIndex));
    let gpus = 0;
    let tokens = 0;
    for (const engineIndex of unit) {
      gpus += engines[engineIndex]!.gpuIds.length;
      tokens += input.tokens[engineIndex]!;
    }
    const best = new Map<number, Way[]>();
    for (const before of ways) {
      for (const taken of releasable && before.gpus + gpus <= wanted ? [true, false] : [false]) {
        let { servers, split } = before;
        for (const index of touched[at]!) {
          const { weight, first, last } = classes[index]!;
          const digit = slots[index]!;
          if (digit === 0) continue;
          const was = first === at ? (taken ? 1 : 0) : Math.floor(servers / digit) % 3;
          const is = was === 2 || (was === 1) === taken ? was : 2;
          if (is === 2 && was !== 2) split += weight;
          servers += ((last === at ? 0 : is) - (first === at ? 0 : was)) * digit;
        }
        const way: Way = {
          gpus: before.gpus + (taken ? gpus : 0),
          servers,
          split,
          tokens: before.tokens + (taken ? tokens : 0),
          tie: 2 * before.rank + (taken ? 0 : 1),
          taken,
          before,
          rank: 0,
        };
        const key = way.servers * (wanted + 1) + way.gpus;
        const others = best.get(key);
        if (others === undefined) best.set(key, [way]);
        else insert(others, way, most);
      }
    }
    ways = [...best.values()].flat();
    if (ways.length > maxWays) ways = ways.sort(better).slice(0, maxWays);
    ways.sort((a, b) => a.tie - b.tie);
    for (let rank = 0; rank < ways.length; rank += 1) ways[rank]!.rank = rank;
  }
  const found = ways.filter((way) => way.gpus === wanted).sort(better);
  return found.slice(0, most).map((way) => enginesOf(units, way));
}

/** Inserts a way into the ordered list of the best, which has at most `most` ways. */
function insert(best: Way[], way: Way, most: number): void {
  let at = best.length;
  while (at > 0 && better(way, best[at - 1]!) < 0) at -= 1;
  if (at === most) return;
  best.splice(at, 0, way);
  if (best.length > most) best.pop();
}

function enginesOf(units: Topology['units'], last: Way): number[] {
  const engineIndices: number[] = [];
  let way: Way | undefined = last;
  for (let at = units.length - 1; at >= 0; at -= 1) {
    if (way!.taken) engineIndices.push(...units[at]!);
    way = way!.before;
  }
  return engineIndices.sort((a, b) => a - b);
}

function serverClasses({ engines, units }: Topology, isUp: (engineIndex: number) => boolean) {
  const unitsOf = new Map<string, number[]>();
  for (const [at, unit] of units.entries()) {
    for (const engineIndex of unit) {
      if (!isUp(engineIndex)) continue;
      const all = unitsOf.get(engines[engineIndex]!.serverId) ?? [];
      if (all[all.length - 1] !== at) all.push(at);
      unitsOf.set(engines[engineIndex]!.serverId, all);
    }
  }
  const byUnits = new Map<string, { weight: number; units: number[] }>();
  for (const list of unitsOf.values()) {
    const known = byUnits.get(list.join());
    if (known === undefined) byUnits.set(list.join(), { weight: 1, units: list });
    else known.weight += 1;
  }
  const touched: number[][] = units.map(() => []);
  const classes: ServerClass[] = [...byUnits.values()].map(({ weight, units: list }, index) => {
    for (const at of list) touched[at]!.push(index);
    return { weight, first: list[0]!, last: list[list.length - 1]! };
  });
  return { classes, touched };
}

/** Returns the place value of each class's digit in `Way.servers`; classes that are never open together share a digit. */
function slotsOf(classes: readonly ServerClass[]): number[] {
  const freeAfter: number[] = [];
  const slots: number[] = [];
  const order = classes.map((_, index) => index).sort((a, b) => classes[a]!.first - classes[b]!.first || a - b);
  for (const index of order) {
    const { first, last } = classes[index]!;
    let slot = freeAfter.findIndex((after) => after < first);
    if (slot < 0) slot = freeAfter.length;
    freeAfter[slot] = last;
    slots[index] = slot < maxOpen ? 3 ** slot : 0;
  }
  return slots;
}
