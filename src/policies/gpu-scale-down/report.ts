/** A report of all requests in flight, read once into columns: there may be a hundred thousand of them. */
import { StringHash } from '../../core/string-index.ts';
import type { RunningRequest } from '../../schemas/gpus.ts';
import { groupBits, groupCount, groupOf, Loads, type Report } from './load.ts';
import type { ScaleDownState } from './state.ts';

/**
 * Reads a report, over the one before it, without the requests that are no longer there: their engine is gone, or they
 * have ended since the query. A few of the latter are read like the others: to find them takes as long as to read all,
 * and the projection becomes higher by their share only.
 */
export function readReport(state: ScaleDownState, requests: readonly RunningRequest[]): Report {
  const { status, columns } = state;
  const { placeOf, engines } = state.topology;
  const { maxResponseTokens } = state.config;
  const { cells, kvTokens, generated } = columns.reserve(requests.length);
  const count = engines.length;
  const loads = new Loads(count, groupCount(maxResponseTokens));
  const ended = manyEnded(state, requests);
  // Ids as the report has them: a string is found equal to itself at once.
  const engineIds: (string | undefined)[] = new Array(count).fill(undefined);
  // Reports have engines one after the other, or in turns: what came after an engine before is tried first.
  const after = new Int32Array(count);
  const lost = Uint8Array.from(status, (one) => (one === 'lost' ? 1 : 0));
  const someGone = ended !== undefined || status.includes('lost');
  let last = 0;
  let unknown = -1;
  for (let index = 0; index < requests.length; index += 1) {
    const { requestId, engineId, tokens, promptTokens } = requests[index]!;
    let place = after[last]!;
    if (engineIds[place] !== engineId) {
      // The bit operation tells the compiler that it is a whole number either way.
      place = (placeOf.get(engineId) ?? -1) | 0;
      if (place >= 0) {
        after[last] = place;
        engineIds[place] = engineId;
      }
    }
    if (place < 0) {
      if (unknown < 0) unknown = index;
      cells[index] = -1;
      continue;
    }
    last = place;
    if (someGone && (lost[place] === 1 || ended?.has(requestId))) {
      cells[index] = -1;
      continue;
    }
    const group = groupOf(tokens, maxResponseTokens);
    const kv = promptTokens + tokens;
    cells[index] = (place << groupBits) + group;
    kvTokens[index] = kv;
    generated[index] = tokens < maxResponseTokens ? tokens : maxResponseTokens;
    loads.add(place, group, tokens, kv);
  }
  return { requests, unknown, columns, loads };
}

/** One request in so many is few. */
const few = 50;
const filterSize = 2 ** 16;

/** Requests that have ended, or must. Most have not: a filter sees that without a look into the sets. */
class Ended {
  readonly #sets: readonly ReadonlySet<string>[];
  readonly #hash: StringHash;
  readonly #filter = new Uint8Array(filterSize);

  constructor(sets: readonly ReadonlySet<string>[], hash: StringHash) {
    this.#sets = sets;
    this.#hash = hash;
    for (const ids of sets) for (const id of ids) this.#filter[hash.of(id) & (filterSize - 1)] = 1;
  }

  has(id: string): boolean {
    return this.#filter[this.#hash.of(id) & (filterSize - 1)] === 1 && this.#sets.some((ids) => ids.has(id));
  }
}

/** Requests that have ended since the query, or must: all of them together, an id may stand in several. */
export function endedSets({ query, aborting, abortingBefore }: ScaleDownState): ReadonlySet<string>[] {
  return [query?.ended, aborting, abortingBefore].filter((ids) => ids !== undefined && ids.size > 0) as never;
}

function manyEnded(state: ScaleDownState, requests: readonly RunningRequest[]): Ended | undefined {
  const sets = endedSets(state);
  let count = 0;
  for (const ids of sets) count += ids.size;
  if (count === 0 || count * few <= requests.length) return undefined;
  const hash = new StringHash(requests.length, (index) => requests[index]!.requestId);
  return new Ended(sets, hash);
}
