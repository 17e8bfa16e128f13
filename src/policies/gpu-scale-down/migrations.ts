/** The requests that move, once it is decided: the decision's lists of them, and what is kept until they have arrived. */
import { StringHash, StringIndex } from '../../core/string-index.ts';
import type { MigrationBatch } from '../../schemas/gpus.ts';
import type { Columns } from './columns.ts';
import type { Report } from './load.ts';
import { Moves } from './moves.ts';
import { endedSets } from './report.ts';
import type { ScaleDownState } from './state.ts';

/** Places of the engines that requests leave, and of those that they may go to. */
export interface Sides {
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/**
 * Lists the first `size` rows of the report's columns by the engines that they leave and go to. Requests that have ended
 * since the query, or must, are not listed; among the moves they stand as ended.
 */
export function migrate(state: ScaleDownState, report: Report, size: number, sides: Sides) {
  const { from, to, tokens, ids, hashes, room } = report.columns;
  const hash = read(report, size);
  const index = new StringIndex(ids, size, hash, hashes, room);
  const moves = new Moves(ids, index, from.subarray(0, size), to.subarray(0, size), tokens.subarray(0, size));
  unlist(state, moves, report.columns.pairs);
  return { moves, migrations: batches(state, report.columns, size, sides) };
}

/** Reads ids, their hashes and tokens, in the order of the report: there requests lie side by side in memory. */
function read({ requests, columns }: Report, size: number): StringHash {
  const { rows, ids, hashes, tokens } = columns;
  const hash = new StringHash(size, (row) => requests[rows[row]!]!.requestId);
  for (let row = 0; row < size; row += 1) {
    const request = requests[rows[row]!]!;
    const { requestId } = request;
    ids[row] = requestId;
    hashes[row] = hash.of(requestId);
    tokens[row] = request.tokens;
  }
  return hash;
}

/** Marks moves that have ended. They are of no pair. */
function unlist(state: ScaleDownState, moves: Moves, pairs: Int32Array): void {
  for (const ended of endedSets(state)) {
    for (const id of ended) {
      const row = moves.row(id);
      if (row < 0) continue;
      moves.setStatus(row, 'ended');
      pairs[row] = -1;
    }
  }
}

/** One list for two engines, by the place of the one that is left, then of the other. */
function batches(
  { topology }: ScaleDownState,
  { pairs, tokens, ids }: Columns,
  size: number,
  sides: Sides,
): MigrationBatch[] {
  const many = new Int32Array(sides.from.length * sides.to.length);
  for (let row = 0; row < size; row += 1) {
    const pair = pairs[row]!;
    if (pair >= 0) many[pair]! += 1;
  }
  const list: MigrationBatch[] = [];
  // Each list has its length from the start: to let it grow would copy it.
  const byPair = Array.from(many, (length, pair): MigrationBatch | undefined => {
    if (length === 0) return undefined;
    const from = topology.engines[sides.from[Math.floor(pair / sides.to.length)]!]!.engineId;
    const to = topology.engines[sides.to[pair % sides.to.length]!]!.engineId;
    const batch = { from, to, requestIds: new Array<string>(length), tokens: new Array<number>(length) };
    list.push(batch);
    return batch;
  });
  many.fill(0);
  for (let row = 0; row < size; row += 1) {
    const pair = pairs[row]!;
    if (pair < 0) continue;
    const { requestIds, tokens: ofEach } = byPair[pair]!;
    const at = many[pair]!;
    many[pair] = at + 1;
    requestIds[at] = ids[row]!;
    ofEach[at] = tokens[row]!;
  }
  return list;
}
