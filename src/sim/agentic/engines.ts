/** The engines as a machine: turns go in; ends of turns and reports on load come out. */

import { IndexedHeap } from '../../core/collections/heap.ts';
import type { AnyEvent } from '../../core/machine/definition.ts';
import { refuse } from '../../errors.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import { numbered } from '../cluster/ids.ts';
import type { Machine } from '../cluster/machines/machine.ts';
import { type EngineTurn, TurnEngine, type TurnOutcome } from './engine.ts';
import type { AgenticJob } from './settings.ts';

interface Node {
  readonly index: number;
  readonly engine: TurnEngine;
  isUp: boolean;
  nextAt: number;
  heapIndex: number;
}

/** A crash of an engine with all its turns; the engine comes back with an empty cache. */
export interface EngineLoss {
  /** Number of the engine, from 0. */
  readonly engine: number;
  /** Time of the crash, in seconds from the beginning, >= 0. */
  readonly atSeconds: number;
  /** Duration of the outage, in seconds, >= 0. */
  readonly downSeconds: number;
}

/** What engines need from the programs that run on them. */
export interface TurnSource {
  /** Returns the turn that a program waits for, which an engine begins now. */
  route(requestId: string, at: number): EngineTurn;
  /** Reports the end of a turn; returns the tokens that the program has generated so far. */
  ended(outcome: TurnOutcome): number;
  /** Reports that a turn was lost with its engine: the turn is routed again. */
  lost(requestId: string): void;
}

/** Engines that run the turns of programs. */
export class TurnEngines implements Machine {
  readonly engines: readonly TurnEngine[];
  readonly #nodes = new Map<string, Node>();
  readonly #byTime = new IndexedHeap<Node>((a, b) => a.nextAt - b.nextAt || a.index - b.index);
  readonly #touched = new Set<Node>();
  readonly #source: TurnSource;
  readonly #reportSeconds: number;
  /** Crashes and restarts to come, ascending. */
  readonly #changes: { readonly at: number; readonly node: Node; readonly isUp: boolean }[] = [];
  #reportsAt = Infinity;
  /** Turns on the engines. */
  #turns = 0;

  constructor(
    { engines, cost, chunkTokens, prefixCache, reportSeconds }: AgenticJob,
    source: TurnSource,
    losses: readonly EngineLoss[],
  ) {
    this.#source = source;
    this.#reportSeconds = reportSeconds;
    this.engines = numbered('engine', engines).map((id) => new TurnEngine(id, cost, { chunkTokens, prefixCache }));
    this.engines.forEach((engine, index) => {
      this.#nodes.set(engine.engineId, { index, engine, isUp: true, nextAt: Infinity, heapIndex: -1 });
    });
    for (const [index, loss] of losses.entries()) {
      const path = `losses[${index}]`;
      const { engine, atSeconds, downSeconds } = loss;
      if (!Number.isSafeInteger(engine) || engine < 0 || engine >= engines)
        refuse('invalid_input', `${path}.engine`, `a whole number from 0 to ${engines - 1}`, engine);
      for (const name of ['atSeconds', 'downSeconds'] as const)
        if (!(loss[name] >= 0 && loss[name] < Infinity))
          refuse('invalid_input', `${path}.${name}`, 'seconds >= 0', loss[name]);
      const node = this.#nodes.get(this.engines[engine]!.engineId)!;
      this.#changes.push({ at: atSeconds, node, isUp: false }, { at: atSeconds + downSeconds, node, isUp: true });
    }
    this.#changes.sort((a, b) => a.at - b.at);
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
    if (!node?.isUp) refuse('unknown_id', 'engineId', 'an engine that is there', engineId);
    node.engine.addTurn(this.#source.route(requestId, at), at);
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
    return Math.min(this.#byTime.peek()?.nextAt ?? Infinity, this.#reportsAt, this.#changes[0]?.at ?? Infinity);
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
    // A policy hears of a crash before it can route another turn to the engine, and after the turns that ended before.
    if (events.length > 0) return events;
    if (this.#changes.length > 0 && this.#changes[0]!.at <= at) return [this.#change(this.#changes.shift()!, at)];
    if (this.#reportsAt <= at) {
      events.push(...this.#reports(at));
      // Once more after the last turn, then not before the next: a simulation in which nothing happens has to end.
      this.#reportsAt = this.#turns > 0 ? this.#reportsAt + this.#reportSeconds : Infinity;
    }
    return events;
  }

  #change({ node, isUp }: { readonly node: Node; readonly isUp: boolean }, at: number): AnyEvent {
    node.isUp = isUp;
    const { engineId } = node.engine;
    if (isUp) return { type: 'engine.added', at, engineId } as AnyEvent;
    const lost = node.engine.lose(at);
    this.#turns -= lost.length;
    for (const { requestId } of lost) this.#source.lost(requestId);
    this.#byTime.remove(node);
    this.#touched.delete(node);
    return { type: 'engine.lost', at, engineId } as AnyEvent;
  }

  #reports(at: number): AnyEvent[] {
    const events: AnyEvent[] = [];
    for (const { engine, isUp } of this.#nodes.values()) {
      if (!isUp) continue;
      const { engineId, preemptions, cost } = engine;
      const { kvCapacityTokens } = cost;
      const load = engine.report(at);
      events.push({ type: 'engine.reported', at, engineId, kvCapacityTokens, ...load, preemptions } as AnyEvent);
    }
    return events;
  }
}
