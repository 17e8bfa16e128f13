/** All engines of the job in simulated time, ordered by their next events. */
import { IndexedHeap } from '../../../core/collections/heap.ts';
import { refuse } from '../../../errors.ts';
import { DecodeEngine, type EngineRequest, type LostRequest, type Outcome } from '../../engine/decode-engine.ts';
import type { CostModel } from '../../models/cost-model.ts';
import { numbered } from '../ids.ts';
import { ChunkCache } from './chunk-cache.ts';
import { EngineRows } from './engine-rows.ts';

interface Node {
  readonly index: number;
  readonly engine: DecodeEngine;
  readonly cache: ChunkCache;
  readonly rows: readonly number[];
  pace: number;
  nextAt: number;
  touched: boolean;
  isReleased: boolean;
  heapIndex: number;
}

/** An engine to place, given by its rows of GPUs. */
export interface EnginePlace {
  readonly engineId: string;
  readonly rows: readonly number[];
}

/** Engines with equal costs, by id. Ties in time are broken by the engine's number. */
export class EnginePool extends EngineRows {
  readonly #timeline: boolean;
  readonly #nodes = new Map<string, Node>();
  readonly #byTime = new IndexedHeap<Node>((a, b) => a.nextAt - b.nextAt || a.index - b.index);
  readonly #where = new Map<string, Node>();
  readonly #nodeOfRow: Node[] = [];
  readonly #paces: number[];
  #reservedTokens = 0;
  #touched: Node[] = [];

  /** Starts one engine per row, until {@link configure} changes the engines. */
  constructor(rows: number, cost: CostModel, timeline: boolean, name = 'engine') {
    super(numbered(name, rows));
    this.#timeline = timeline;
    this.#paces = this.rows.map(() => 1);
    this.configure(
      this.rows.map(({ rowId }, row) => ({ engineId: rowId, rows: [row] })),
      cost,
    );
  }

  /** Ids of the engines. */
  get engineIds(): string[] {
    return [...this.#nodes.keys()];
  }

  /** Requests that the engines have. */
  get size(): number {
    return this.#where.size;
  }

  /** Starts these engines instead of all present ones, which must be idle. */
  configure(places: readonly EnginePlace[], cost: CostModel): void {
    for (const node of this.#nodes.values()) this.#byTime.remove(node);
    this.#nodes.clear();
    this.#touched = [];
    this.place(
      places.map(({ engineId, rows }, index) => {
        const cache = new ChunkCache();
        const engine = new DecodeEngine(engineId, cost, { timeline: this.#timeline, cache });
        const times = { pace: 1, nextAt: Infinity, touched: false, isReleased: false, heapIndex: -1 };
        const node = { index, engine, cache, rows, ...times };
        this.#nodes.set(engineId, node);
        for (const row of rows) this.#nodeOfRow[row] = node;
        this.#adapt(node, 0);
        if (this.#reservedTokens > 0) this.#shrink(node, 0);
        return { engine, rows };
      }),
    );
  }

  /** Starts a request, on the engine named or on the one with the fewest requests, and returns the engine's id. */
  launch(request: EngineRequest, engineId: string | undefined, at: number): string {
    const node = engineId === undefined ? this.#emptiest() : this.#nodes.get(engineId);
    if (node === undefined) {
      refuse('unknown_id', 'engineId', 'an engine of the job', engineId);
    }
    node.engine.add(request, at);
    this.#where.set(request.requestId, node);
    this.#touch(node);
    return node.engine.engineId;
  }

  /**
   * Tells an engine that it has the context of a request that continues later: while there is room, nothing of the context is
   * computed again.
   */
  keep(engineId: string, requestId: string, contextTokens: number): void {
    this.#nodes.get(engineId)!.cache.keep(requestId, contextTokens);
  }

  /** Tells the engine that a context is not needed any more. */
  forget(engineId: string, requestId: string): void {
    this.#nodes.get(engineId)!.cache.forget(requestId);
  }

  /** Aborts a request. An ended request is ignored, because its report is on the way. */
  abort(requestId: string, at: number): void {
    const node = this.#where.get(requestId);
    if (node === undefined) return;
    node.engine.abort(requestId, at);
    this.#touch(node);
  }

  /** Takes an engine out of use until {@link reclaim}, and returns its requests, with the tokens generated so far. */
  release(engineId: string, at: number): LostRequest[] {
    const node = this.#nodes.get(engineId)!;
    const lost = node.engine.lose(at);
    for (const { requestId } of lost) this.#where.delete(requestId);
    node.isReleased = true;
    this.#touch(node);
    return lost;
  }

  /** Returns the requests of each engine with their generated tokens so far. */
  progress(at: number): { readonly engineId: string; readonly requests: readonly LostRequest[] }[] {
    return [...this.#nodes.values()].map((node) => {
      const requests = node.engine.progress(at);
      this.#touch(node);
      return { engineId: node.engine.engineId, requests };
    });
  }

  /** Whether the engine on a row has requests. */
  isBusy(row: number): boolean {
    return this.#nodeOfRow[row]!.engine.size > 0;
  }

  /** Slows a row down by this factor from now on; an engine is as slow as the slowest of its rows. */
  slow(row: number, pace: number, at: number): void {
    this.#paces[row] = pace;
    this.#adapt(this.#nodeOfRow[row]!, at);
  }

  /** Takes so many tokens per GPU from the KV cache from now on. */
  reserve(tokensPerGpu: number, at: number): void {
    if (tokensPerGpu === this.#reservedTokens) return;
    this.#reservedTokens = tokensPerGpu;
    for (const node of this.#nodes.values()) this.#shrink(node, at);
  }

  #adapt(node: Node, at: number): void {
    const pace = node.rows.reduce((most, row) => Math.max(most, this.#paces[row]!), 1);
    if (pace === node.pace) return;
    node.pace = pace;
    node.engine.setPace(pace, at);
    this.#touch(node);
  }

  #shrink(node: Node, at: number): void {
    const { gpus, kvCapacityTokens } = node.engine.cost;
    node.engine.setKvCapacity(Math.max(0, Math.floor(kvCapacityTokens - gpus * this.#reservedTokens)), at);
    this.#touch(node);
  }

  /** Brings all released engines back into use. */
  reclaim(): void {
    for (const node of this.#nodes.values()) node.isReleased = false;
  }

  /** Returns the time of the next event on an engine; `Infinity` if all engines are idle. Call this after `advanceTo`. */
  nextEventAt(): number {
    return this.#byTime.peek()?.nextAt ?? Infinity;
  }

  /** Returns the responses that have ended by now, on every engine that was touched or whose event is due. */
  advanceTo(at: number): Outcome[] {
    const outcomes: Outcome[] = [];
    const touched = this.#touched;
    this.#touched = [];
    touched.sort((a, b) => a.index - b.index);
    for (const node of touched) this.#advance(node, at, outcomes);
    for (let node = this.#byTime.peek(); node !== undefined && node.nextAt <= at; node = this.#byTime.peek()) {
      this.#advance(node, at, outcomes);
    }
    return outcomes;
  }

  #advance(node: Node, at: number, outcomes: Outcome[]): void {
    for (const outcome of node.engine.advanceTo(at)) {
      this.#where.delete(outcome.requestId);
      outcomes.push(outcome);
    }
    node.touched = false;
    this.#schedule(node);
  }

  #schedule(node: Node): void {
    node.nextAt = node.engine.nextEventAt();
    if (node.nextAt === Infinity) this.#byTime.remove(node);
    else this.#byTime.update(node);
  }

  #touch(node: Node): void {
    if (node.touched) return;
    node.touched = true;
    this.#touched.push(node);
  }

  #emptiest(): Node {
    let best: Node | undefined;
    for (const node of this.#nodes.values()) {
      if (!node.isReleased && (best === undefined || node.engine.size < best.engine.size)) best = node;
    }
    return best!;
  }
}
