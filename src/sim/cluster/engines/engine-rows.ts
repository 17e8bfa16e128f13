/**
 * The GPUs of the job in rows. A row is the smallest group that an engine may take. An engine with higher tensor parallelism
 * takes several rows, so the record of a row survives changes of engines.
 */

import type { Segment } from '../../comparison/result.ts';
import type { DecodeEngine } from '../../engine/decode-engine.ts';

/** Counters and timeline for the GPUs of a row. */
export interface EngineRow {
  readonly rowId: string;
  /** Seconds in which the GPUs ran at least one sequence, or trained beside a rollout. */
  busySeconds: number;
  /** Preemptions on engines that begin in this row. */
  preemptions: number;
  /** Segments since the last call that took them, ascending. */
  segments: Segment[];
}

/** An engine and the rows that it takes. */
interface Placed {
  readonly engine: DecodeEngine;
  readonly rows: readonly EngineRow[];
  busySeconds: number;
  preemptions: number;
}

/** Records the work of all rows. */
export class EngineRows {
  readonly rows: readonly EngineRow[];
  #placed: Placed[] = [];

  constructor(rowIds: readonly string[]) {
    this.rows = rowIds.map((rowId) => ({ rowId, busySeconds: 0, preemptions: 0, segments: [] }));
  }

  /** Places these engines on their rows from now on, and keeps the records of earlier engines. */
  place(engines: readonly { readonly engine: DecodeEngine; readonly rows: readonly number[] }[]): void {
    this.collect();
    this.#placed = engines.map(({ engine, rows }) => ({
      engine,
      rows: rows.map((row) => this.rows[row]!),
      busySeconds: engine.busySeconds,
      preemptions: engine.preemptions,
    }));
  }

  /** Brings the records up to date. */
  collect(): void {
    for (const one of this.#placed) {
      const { engine, rows } = one;
      const segments = engine.timeline.splice(0);
      for (const row of rows) {
        row.busySeconds += engine.busySeconds - one.busySeconds;
        row.segments.push(...segments);
      }
      rows[0]!.preemptions += engine.preemptions - one.preemptions;
      one.busySeconds = engine.busySeconds;
      one.preemptions = engine.preemptions;
    }
  }
}
