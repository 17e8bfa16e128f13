/** A report of all requests in flight, read once into columns: there may be a hundred thousand of them. */
import type { RunningRequest } from '../../schemas/gpus.ts';
import { groupCount, groupOf, Loads, type Report } from './load.ts';
import type { Query, ScaleDownState } from './state.ts';

/** Reads a report, over the one before it. */
export function readReport({ topology, config, columns }: ScaleDownState, requests: readonly RunningRequest[]): Report {
  const { maxResponseTokens } = config;
  const { places, groups, kvTokens } = columns.reserve(requests.length);
  const count = topology.engines.length;
  const loads = new Loads(count, groupCount(maxResponseTokens));
  // Ids as the report has them: a string is found equal to itself at once.
  const engineIds: (string | undefined)[] = new Array(count).fill(undefined);
  // Reports have engines one after the other, or in turns: what came after an engine before is tried first.
  const after = new Int32Array(count);
  let last = 0;
  let unknown = -1;
  for (let index = 0; index < requests.length; index += 1) {
    const { engineId, tokens, promptTokens } = requests[index]!;
    let place = after[last]!;
    if (engineIds[place] !== engineId) {
      place = topology.placeOf.get(engineId) ?? -1;
      if (place >= 0) {
        after[last] = place;
        engineIds[place] = engineId;
      }
    }
    places[index] = place;
    if (place < 0) {
      if (unknown < 0) unknown = index;
      continue;
    }
    last = place;
    const group = groupOf(tokens, maxResponseTokens);
    const kv = promptTokens + tokens;
    groups[index] = group;
    kvTokens[index] = kv;
    loads.add(place, group, tokens, kv);
  }
  return { requests, unknown, columns, loads };
}

/** Takes a request out of a report: it has lost its place. */
function drop({ requests, columns, loads }: Report, index: number): void {
  const { places, groups, kvTokens } = columns;
  const place = places[index]!;
  if (place >= 0) loads.remove(place, groups[index]!, requests[index]!.tokens, kvTokens[index]!);
  places[index] = -1;
}

const filterSize = 2 ** 16;

/** A hash of the last characters, where ids differ. */
function tailHash(id: string): number {
  let hash = id.length;
  for (let at = Math.max(0, id.length - 8); at < id.length; at += 1)
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x9e3779b1);
  return (hash ^ (hash >>> 15)) & (filterSize - 1);
}

/** Takes out requests that are no longer there: they have ended, or their engine is gone. */
export function dropGone(state: ScaleDownState, { ended }: Query, report: Report): void {
  const { aborting, abortingBefore, status } = state;
  const { requests } = report;
  const { places } = report.columns;
  if (status.includes('lost')) {
    for (let index = 0; index < requests.length; index += 1) {
      if (places[index]! >= 0 && status[places[index]!] === 'lost') drop(report, index);
    }
  }
  if (ended.size + aborting.size + abortingBefore.size === 0) return;
  // Most have not ended: a filter sees that without a look into the sets.
  const filter = new Uint8Array(filterSize);
  for (const ids of [ended, aborting, abortingBefore]) for (const id of ids) filter[tailHash(id)] = 1;
  for (let index = 0; index < requests.length; index += 1) {
    const { requestId } = requests[index]!;
    if (filter[tailHash(requestId)] === 0) continue;
    if (ended.has(requestId) || aborting.has(requestId) || abortingBefore.has(requestId)) drop(report, index);
  }
}
