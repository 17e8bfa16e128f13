/** A report of all requests in flight, read once into columns: there may be a hundred thousand of them. */
import type { RunningRequest } from '../../schemas/gpus.ts';
import { groupCount, groupOf, Loads } from './load.ts';
import type { Query, ScaleDownState } from './state.ts';

/** What a report says of each request. */
export interface Columns {
  readonly requests: readonly RunningRequest[];
  /** Place of its engine; −1 where that is not known. */
  readonly places: Int32Array;
  /** Group of the length that it has reached. */
  readonly groups: Uint16Array;
  /** Its tokens in the KV cache, prompt and response. */
  readonly kvTokens: Float64Array;
}

/** Reads a report. */
export function columnsOf({ topology, config }: ScaleDownState, requests: readonly RunningRequest[]): Columns {
  const { maxResponseTokens } = config;
  const places = new Int32Array(requests.length);
  const groups = new Uint16Array(requests.length);
  const kvTokens = new Float64Array(requests.length);
  const engineIds = topology.engines.map((engine) => engine.engineId);
  // Reports have engines one after the other, or in turns: what came after an engine before is tried first.
  const after = new Int32Array(engineIds.length);
  let last = 0;
  for (let index = 0; index < requests.length; index += 1) {
    const { engineId, tokens, promptTokens } = requests[index]!;
    let place = after[last]!;
    if (engineIds[place] !== engineId) {
      place = topology.placeOf.get(engineId) ?? -1;
      if (place >= 0) after[last] = place;
    }
    if (place >= 0) last = place;
    places[index] = place;
    groups[index] = groupOf(tokens, maxResponseTokens);
    kvTokens[index] = promptTokens + tokens;
  }
  return { requests, places, groups, kvTokens };
}

/** What is in flight. */
export interface InFlight {
  readonly loads: Loads;
  /** Sum of the tokens generated, by group. */
  readonly generated: Float64Array;
}

/** Puts requests together by engine. Those that have ended, or whose engine is gone, lose their place. */
export function inFlight(
  state: ScaleDownState,
  query: Query,
  { requests, places, groups, kvTokens }: Columns,
): InFlight {
  const { topology, config, status } = state;
  dropEnded(state, query, requests, places);
  if (status.includes('lost')) {
    for (let index = 0; index < places.length; index += 1) if (status[places[index]!] === 'lost') places[index] = -1;
  }
  const count = groupCount(config.maxResponseTokens);
  const loads = new Loads(topology.engines.length, count);
  const generated = new Float64Array(count);
  for (let index = 0; index < places.length; index += 1) {
    const place = places[index]!;
    if (place < 0) continue;
    const group = groups[index]!;
    loads.add(place, group, kvTokens[index]!);
    generated[group]! += requests[index]!.tokens;
  }
  return { loads, generated };
}

const filterSize = 2 ** 16;

/** A hash of the last characters, where ids differ. */
function tailHash(id: string): number {
  let hash = id.length;
  for (let at = Math.max(0, id.length - 8); at < id.length; at += 1)
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x9e3779b1);
  return (hash ^ (hash >>> 15)) & (filterSize - 1);
}

/** Most requests have not ended: a filter sees that without a look into the sets. */
function dropEnded(
  { aborting, abortingBefore }: ScaleDownState,
  { ended }: Query,
  requests: readonly RunningRequest[],
  places: Int32Array,
): void {
  if (ended.size + aborting.size + abortingBefore.size === 0) return;
  const filter = new Uint8Array(filterSize);
  for (const ids of [ended, aborting, abortingBefore]) for (const id of ids) filter[tailHash(id)] = 1;
  for (let index = 0; index < requests.length; index += 1) {
    const { requestId } = requests[index]!;
    if (filter[tailHash(requestId)] === 0) continue;
    if (ended.has(requestId) || aborting.has(requestId) || abortingBefore.has(requestId)) places[index] = -1;
  }
}
