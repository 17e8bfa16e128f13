/** The engines as a machine: turns in, their ends and reports on load out. */
import type { AnyEvent } from '../../core/definition.ts';
import { IndexedHeap } from '../../core/heap.ts';
import { refuse } from '../../errors.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import { numbered } from '../cluster/ids.ts';
import type { Machine } from '../cluster/machine.ts';
import { type EngineTurn, TurnEngine, type TurnOutcome } from './engine.ts';
import type { AgenticJob } from './settings.ts';

interface Node {
  readonly index: number;
  readonly engine: TurnEngine;
  nextAt: number;
  heapIndex: number;
}

/** What the engines ask of the programs that run on them. */
export interface TurnSource {
  /** Returns the turn that a program waits for, which an engine begins now. */
  route(requestId: string, at: number): EngineTurn;
  /** Hears of the end of a turn; returns the tokens that the program has generated so far. */
  ended(outcome: TurnOutcome): number;
}

/** Engines that run the turns of programs. */
export class TurnEngines implements Machine {
  readonly engines: readonly TurnEngine[];
  readonly #nodes = new Map<string, Node>();
  readonly #byTime = new IndexedHeap<Node>((a, b) => a.nextAt - b.nextAt || a.index - b.index);
  readonly #touched = new Set<Node>();
  readonly #source: TurnSource;
  readonly #reportSeconds: number;
  #reportsAt = Infinity;
  /** Turns on the engines. */
  #turns = 0;

  constructor({ engines, cost, chunkTokens, prefixCache, reportSeconds }: AgenticJob, source: TurnSource) {
    this.#source = source;
    this.#reportSeconds = reportSeconds;
    this.engines = numbered('engine', engines).map((id) => new TurnEngine(id, cost, { chunkTokens, prefixCache }));
    this.engines.forEach((engine, index) => {
      this.#nodes.set(engine.engineId, { index, engine, nextAt: Infinity, heapIndex: -1 });
    });
  }

  /** Returns the events that make the engines known. */
  opening(): AnyEvent[] {
    const added = this.engines.map(({ engineId }) => ({ type: 'engine.added', at: 0, engineId }) as AnyEvent);
    return [...added, ...this.#reports(0)];
  }

  carryOut(decision: VocabularyDecision, at: number): void {
    if (decision.type !== 'turn.route') return;
    const { requestId, engineId } = decision;
    const node = this.#nodes.get(engineId);
    if (node === undefined) refuse('unknown_id', 'engineId', 'an engine of the job', engineId);
    node.engine.add(this.#source.route(requestId, at), at);
    this.#turns += 1;
    this.#touched.add(node);
    if (this.#reportsAt === Infinity && this.#reportSeconds > 0) {
      this.#reportsAt = (Math.floor(at / this.#reportSeconds) + 1) * this.#reportSeconds;
    }
  }

  nextAt(): number {
    // A step is planned when everything of the same moment has arrived.
    for (const node of this.#touched) {
      node.nextAt = node.engine.nextEventAt();
      if (node.nextAt < Infinity) this.#byTime.update(node);
    }
    this.#touched.clear();
    return Math.min(this.#byTime.peek()?.nextAt ?? Infinity, this.#reportsAt);
  }

  advanceTo(at: number): AnyEvent[] {
    const events: AnyEvent[] = [];
    for (let node = this.#byTime.peek(); node !== undefined && node.nextAt <= at; node = this.#byTime.peek()) {
      for (const outcome of node.engine.advanceTo(at)) {
        const { requestId, cachedTokens } = outcome;
        const tokens = this.#source.ended(outcome);
        this.#turns -= 1;
        events.push({ type: 'turn.finished', at, requestId, tokens, cachedTokens } as AnyEvent);
      }
      this.#byTime.remove(node);
      this.#touched.add(node);
    }
    if (this.#reportsAt <= at) {
      events.push(...this.#reports(at));
      // Once more after the last turn, then not before the next: a simulation in which nothing happens has to end.
      this.#reportsAt = this.#turns > 0 ? this.#reportsAt + this.#reportSeconds : Infinity;
    }
    return events;
  }

  #reports(at: number): AnyEvent[] {
    return this.engines.map((engine) => {
      const { engineId, preemptions } = engine;
      const kvCapacityTokens = engine.cost.kvCapacityTokens;
      return { type: 'engine.reported', at, engineId, kvCapacityTokens, ...engine.load(at), preemptions } as AnyEvent;
    });
  }
}
