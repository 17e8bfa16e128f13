/** All engines of the job, in simulated time: which of them has something to say next. */
import { IndexedHeap } from '../../core/heap.ts';
import { PolicyError } from '../../errors.ts';
import type { CostModel } from '../cost-model.ts';
import { DecodeEngine, type EngineRequest, type Outcome } from '../engine/decode-engine.ts';

interface Node {
  readonly index: number;
  readonly engine: DecodeEngine;
  nextAt: number;
  touched: boolean;
  heapIndex: number;
}

/** Engines with equal costs, by id. Ties in time are broken by the engine's number. */
export class EnginePool {
  readonly engines: readonly DecodeEngine[];
  readonly #nodes = new Map<string, Node>();
  readonly #byTime = new IndexedHeap<Node>((a, b) => a.nextAt - b.nextAt || a.index - b.index);
  readonly #where = new Map<string, Node>();
  #touched: Node[] = [];

  constructor(count: number, cost: CostModel, timeline: boolean) {
    const width = String(count - 1).length;
    const ids = Array.from({ length: count }, (_, index) => `engine-${String(index).padStart(width, '0')}`);
    this.engines = ids.map((id) => new DecodeEngine(id, cost, { timeline }));
    this.engines.forEach((engine, index) => {
      this.#nodes.set(engine.engineId, { index, engine, nextAt: Infinity, touched: false, heapIndex: -1 });
    });
  }

  /** Requests that the engines have. */
  get size(): number {
    return this.#where.size;
  }

  /** Starts a request, on the engine named or on the one with the fewest requests. */
  launch(request: EngineRequest, engineId: string | undefined, at: number): void {
    const node = engineId === undefined ? this.#emptiest() : this.#nodes.get(engineId);
    if (node === undefined) {
      throw new PolicyError('unknown_id', { expected: 'an engine of the job', got: engineId, path: 'engineId' });
    }
    node.engine.add(request, at);
    this.#where.set(request.requestId, node);
    this.#touch(node);
  }

  /** Aborts a request; nothing happens when it is over, since a report of that is under way. */
  abort(requestId: string, at: number): void {
    const node = this.#where.get(requestId);
    if (node === undefined) return;
    node.engine.abort(requestId, at);
    this.#touch(node);
  }

  /** When an engine does something next by itself; `Infinity` when all are idle. Ask after `advanceTo`. */
  nextEventAt(): number {
    return this.#byTime.peek()?.nextAt ?? Infinity;
  }

  /** What has ended by now, on every engine that was touched or whose time has come. */
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
    for (const node of this.#nodes.values()) if (best === undefined || node.engine.size < best.engine.size) best = node;
    return best!;
  }
}
