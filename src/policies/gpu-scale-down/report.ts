/** A report of all requests in flight, read once into columns: there may be a hundred thousand of them. */
import type { RunningRequest } from '../../schemas/gpus.ts';
import { groupCount, groupOf, Loads, type Report } from './load.ts';
import type { ScaleDownState } from './state.ts';

/**
 * Reads a report, over the one before it, without the requests that are no longer there: they have ended since the
 * query, or their engine is gone.
 */
export function readReport(state: ScaleDownState, requests: readonly RunningRequest[]): Report {
  const { topology, status, columns } = state;
  const { maxResponseTokens } = state.config;
  const { places, groups, kvTokens } = columns.reserve(requests.length);
  const count = topology.engines.length;
  const loads = new Loads(count, groupCount(maxResponseTokens));
  const ended = endedOf(state);
  // Ids as the report has them: a string is found equal to itself at once.
  const engineIds: (string | undefined)[] = new Array(count).fill(undefined);
  // Reports have engines one after the other, or in turns: what came after an engine before is tried first.
  const after = new Int32Array(count);
  const lost = Uint8Array.from(status, (one) => (one === 'lost' ? 1 : 0));
  let last = 0;
  let unknown = -1;
  for (let index = 0; index < requests.length; index += 1) {
    const { requestId, engineId, tokens, promptTokens } = requests[index]!;
    let place = after[last]!;
    if (engineIds[place] !== engineId) {
      place = topology.placeOf.get(engineId) ?? -1;
      if (place >= 0) {
        after[last] = place;
        engineIds[place] = engineId;
      }
    }
    if (place < 0) {
      if (unknown < 0) unknown = index;
      places[index] = -1;
      continue;
    }
    last = place;
    if (lost[place] === 1 || ended?.has(requestId)) {
      places[index] = -1;
      continue;
    }
    places[index] = place;
    const group = groupOf(tokens, maxResponseTokens);
    const kv = promptTokens + tokens;
    groups[index] = group;
    kvTokens[index] = kv;
    loads.add(place, group, tokens, kv);
  }
  return { requests, unknown, columns, loads };
}

const filterSize = 2 ** 16;

/** A hash of the characters in which request ids differ: the end of the prompt's id and the index. */
function tailHash(id: string): number {
  let hash = id.length;
  for (let at = Math.max(0, id.length - 8); at < id.length - 2; at += 1)
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x9e3779b1);
  return (hash ^ (hash >>> 15)) & (filterSize - 1);
}

/** Requests that have ended, or must. Most have not: a filter sees that without a look into the sets. */
class Ended {
  readonly #sets: readonly ReadonlySet<string>[];
  readonly #filter = new Uint8Array(filterSize);

  constructor(sets: readonly ReadonlySet<string>[]) {
    this.#sets = sets;
    for (const ids of sets) for (const id of ids) this.#filter[tailHash(id)] = 1;
  }

  has(id: string): boolean {
    return this.#filter[tailHash(id)] === 1 && this.#sets.some((ids) => ids.has(id));
  }
}

function endedOf({ query, aborting, abortingBefore }: ScaleDownState): Ended | undefined {
  const sets = [query?.ended, aborting, abortingBefore].filter((ids) => ids !== undefined && ids.size > 0);
  return sets.length > 0 ? new Ended(sets as ReadonlySet<string>[]) : undefined;
}
