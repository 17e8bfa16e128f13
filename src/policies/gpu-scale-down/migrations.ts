/** The requests that move, once it is decided: the decision's lists of them, and what is kept until they have arrived. */
import { StringHash, StringIndex } from '../../core/string-index.ts';
import type { MigrationBatch } from '../../schemas/gpus.ts';
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
  const { engines } = state.topology;
  const { from, to, tokens, ids, hashes } = report.columns;
  const { ends, hash } = sorted(report, size, sides.from.length * sides.to.length);
  for (let pair = 0, start = 0; pair < ends.length; pair += 1) {
    const end = ends[pair]!;
    if (start === end) continue;
    from.fill(sides.from[Math.floor(pair / sides.to.length)]!, start, end);
    to.fill(sides.to[pair % sides.to.length]!, start, end);
    start = end;
  }
  const index = new StringIndex(ids, size, hash, hashes);
  const moves = new Moves(ids, index, from.subarray(0, size), to.subarray(0, size), tokens.subarray(0, size));
  const someEnded = markEnded(state, moves);
  const migrations: MigrationBatch[] = [];
  for (let pair = 0, start = 0; pair < ends.length; pair += 1) {
    const end = ends[pair]!;
    if (start === end) continue;
    const [leaves, target] = [engines[from[start]!]!.engineId, engines[to[start]!]!.engineId];
    const batch = { from: leaves, to: target, requestIds: ids.slice(start, end), tokens: 0 };
    if (someEnded) batch.requestIds = batch.requestIds.filter((_, at) => moves.status(start + at) !== 'ended');
    for (let row = start; row < end; row += 1) {
      if (!someEnded || moves.status(row) !== 'ended') batch.tokens += tokens[row]!;
    }
    if (batch.requestIds.length > 0) migrations.push(batch);
    start = end;
  }
  return { moves, migrations };
}

/** Writes ids, hashes and tokens by pairs of engines, each pair in the order of the report; where each pair ends. */
function sorted({ requests, columns }: Report, size: number, count: number): { ends: Int32Array; hash: StringHash } {
  const { rows, pairs, ids, hashes, tokens } = columns;
  const ends = new Int32Array(count);
  for (let row = 0; row < size; row += 1) ends[pairs[row]!]! += 1;
  let sum = 0;
  for (let pair = 0; pair < ends.length; pair += 1) {
    const many = ends[pair]!;
    // Each start becomes the end as the pair is filled.
    ends[pair] = sum;
    sum += many;
  }
  const hash = new StringHash(size, (row) => requests[rows[row]!]!.requestId);
  // In the order of the report: there requests lie side by side in memory.
  for (let row = 0; row < size; row += 1) {
    const request = requests[rows[row]!]!;
    const { requestId } = request;
    const pair = pairs[row]!;
    const at = ends[pair]!;
    ends[pair] = at + 1;
    ids[at] = requestId;
    hashes[at] = hash.of(requestId);
    tokens[at] = request.tokens;
  }
  return { ends, hash };
}

/** Marks moves that have ended; whether there are any. */
function markEnded(state: ScaleDownState, moves: Moves): boolean {
  let some = false;
  for (const ended of endedSets(state)) {
    for (const id of ended) {
      const row = moves.row(id);
      if (row < 0) continue;
      moves.setStatus(row, 'ended');
      some = true;
    }
  }
  return some;
}
