/**
 * The engines of the rollout as the host places, adds, drains and loses them, and which of them are released: half of the GPUs,
 * without splitting a unit. The preferred choice splits the fewest servers between rollout and training, then moves the fewest
 * tokens, then takes the first engines in the order of servers.
 */
import { refuse } from '../../errors.ts';
import type { Message } from '../../schemas/messages.ts';
import { assertEngine, late, reclaim } from './release.ts';
import type { Ctx } from './schema.ts';
import { type ScaleDownState, type Topology, topologyOf } from './state.ts';

/**
 * Refuses other engines while something depends on the present engines. Other engines may come if no release is under way or in
 * training, and the open round, if any, has not been evaluated since it began or since the latest restart of the host.
 */
export function checkPlaced({ config, release, round }: ScaleDownState, event: Message<'engines.placed'>): void {
  if (release !== undefined) {
    refuse(
      'out_of_order',
      'type',
      `no release under way (gpus.returned of ${release.releaseId} first)`,
      `a release that is ${release.phase}`,
    );
  }
  if (round?.fixed) {
    refuse(
      'out_of_order',
      'type',
      `no open round that has been evaluated (round.completed of ${round.roundId} first)`,
      `a round that was evaluated at ${round.evaluated} finished`,
    );
  }
  const inBytes = event.engines.findIndex((one) => one.kvCapacityBytes !== undefined);
  if (inBytes >= 0 && config.bytesPerToken === undefined) {
    refuse(
      'invalid_event',
      `engines[${inBytes}].kvCapacityBytes`,
      'kvCapacityTokens, as the configuration has no bytesPerToken',
      'kvCapacityBytes',
    );
  }
  const gpus = new Set(event.engines.flatMap((one) => one.gpuIds));
  const missing = config.communicationGroups.flat().find((gpu) => !gpus.has(gpu));
  if (missing === undefined) return;
  refuse('invalid_event', 'engines', `an engine on ${missing}, which a communication group names`, 'none');
}

type EngineEvent = Message<'engine.added' | 'engine.drained' | 'engine.lost'>;

/** Replaces the engines; all new ones are up. The history of lengths stays, because it does not depend on engines. */
export function placeEngines(state: ScaleDownState, { engines }: Message<'engines.placed'>): void {
  const before = state.topology.engines;
  state.placed = structuredClone(engines);
  state.topology = topologyOf(state.placed, state.config);
  const gone = before.map((one) => one.engineId).filter((id) => !state.topology.engineIndexOf.has(id));
  // If the same engines are placed again, nothing is replaced.
  const replaced = gone.length > 0 ? gone : [...state.replaced].filter((id) => !state.topology.engineIndexOf.has(id));
  state.replaced = new Set(replaced);
  state.status = state.topology.engines.map(() => 'up');
}

export function checkEngine(state: ScaleDownState, { engineId }: EngineEvent): void {
  if (!state.replaced.has(engineId)) assertEngine(state, engineId, 'engineId');
}

/** Updates an engine that was added, drained or lost. Engines of the former layout are ignored. */
export function engineChanged(state: ScaleDownState, { type, engineId }: EngineEvent, ctx: Ctx): void {
  const engineIndex = state.topology.engineIndexOf.get(engineId);
  if (engineIndex === undefined) {
    late(engineId, 'engine_replaced', ctx);
  } else if (type === 'engine.lost') engineLost(state, engineIndex, ctx);
  else if (type === 'engine.added') state.status[engineIndex] = 'up';
  else if (state.status[engineIndex] === 'up') state.status[engineIndex] = 'drained';
}

/** Handles a lost engine. While GPUs are being released, no engine may be missing; afterwards at least one must remain. */
function engineLost(state: ScaleDownState, engineIndex: number, ctx: Ctx): void {
  state.status[engineIndex] = 'lost';
  const { release } = state;
  if (release === undefined) return;
  const { engineId } = state.topology.engines[engineIndex]!;
  if (release.phase === 'releasing') return reclaim(state, { code: 'engine_lost', engineId }, ctx);
  if (release.phase !== 'released' || release.engines.includes(engineIndex)) return;
  const remains = state.status.some((status, at) => status !== 'lost' && !release.engines.includes(at));
  if (!remains) reclaim(state, { code: 'engines_lost', engineId }, ctx);
}

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
