/** The requests that move, once it is decided: the decision's lists of them, and what is kept until they have arrived. */
import { StringHash, StringIndex } from '../../core/string-index.ts';
import type { MigrationBatch } from '../../schemas/gpus.ts';
import type { Report } from './load.ts';
import { Moves } from './moves.ts';
import { endedSets } from './report.ts';
import type { ScaleDownState } from './state.ts';

/**
 * Lists the first `size` rows of the report's columns by the engines that they leave and go to. Requests that have ended
 * since the query, or must, are not listed; among the moves they stand as ended.
 */
export function migrate(state: ScaleDownState, report: Report, size: number) {
  const { engines } = state.topology;
  const { from, to, tokens, ids, hashes } = report.columns;
  const { ends, hash } = sorted(report, size, engines.length);
  let start = 0;
  for (const [pair, end] of ends.entries()) {
    from.fill(Math.floor(pair / engines.length), start, end);
    to.fill(pair % engines.length, start, end);
    start = end;
  }
  const index = new StringIndex(ids, size, hash, hashes);
  const moves = new Moves(ids, index, from.subarray(0, size), to.subarray(0, size), tokens.subarray(0, size));
  const holed = withoutEnded(state, moves, ends.length);
  const migrations: MigrationBatch[] = [];
  start = 0;
  for (const [pair, end] of ends.entries()) {
    const rows = { start, end };
    start = end;
    const list = holed[pair] === 1 ? movingIn(moves, ids, rows) : ids.slice(rows.start, end);
    if (list.length === 0) continue;
    migrations.push({
      from: engines[from[rows.start]!]!.engineId,
      to: engines[to[rows.start]!]!.engineId,
      requestIds: list,
      tokens: tokensOf(moves, rows),
    });
  }
  return { moves, migrations };
}

/** Writes ids, hashes and tokens by pairs of engines, each pair in the order of the report; where each pair ends. */
function sorted({ requests, columns }: Report, size: number, engines: number): { ends: Int32Array; hash: StringHash } {
  const { rows, pairs, ids, hashes, tokens } = columns;
  const ends = new Int32Array(engines * engines);
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

/** Marks moves that have ended; 1 for each pair of engines that has one. */
function withoutEnded(state: ScaleDownState, moves: Moves, pairs: number) {
  const holed = new Uint8Array(pairs);
  for (const ended of endedSets(state)) {
    for (const id of ended) {
      const row = moves.row(id);
      if (row < 0) continue;
      moves.setStatus(row, 'ended');
      holed[moves.from(row) * state.topology.engines.length + moves.to(row)] = 1;
    }
  }
  return holed;
}

interface Rows {
  readonly start: number;
  readonly end: number;
}

function movingIn(moves: Moves, ids: readonly string[], { start, end }: Rows): string[] {
  const list: string[] = [];
  for (let row = start; row < end; row += 1) if (moves.status(row) === 'moving') list.push(ids[row]!);
  return list;
}

function tokensOf(moves: Moves, { start, end }: Rows): number {
  let sum = 0;
  for (let row = start; row < end; row += 1) if (moves.status(row) === 'moving') sum += moves.tokens(row);
  return sum;
}
