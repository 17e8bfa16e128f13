/** All engines on one simulated clock, which advances only on request and never reads the wall clock. */
import type { CostModel } from '../../sim/models/cost-model.ts';
import type { Workload } from '../../sim/workload/workload.ts';
import type { Fault } from '../faults.ts';
import { type MockEngineInput, type MockEngineOptions, readOptions } from '../options.ts';
import { Agenda } from './agenda.ts';
import { applyFault, type FaultListener } from './apply-fault.ts';
import { MockEngine } from './mock-engine.ts';
import { ResponseBook } from './prompts/response-book.ts';

/** Parts of a cluster, in addition to its options. */
export interface ClusterParts {
  /** Durations of decode steps and prefills, and the size of the KV cache. */
  readonly cost: CostModel;
  /** Decides how long responses are. */
  readonly workload: Workload;
}

/** Engines with a common simulated clock. */
export class MockCluster {
  /** The options with all defaults. */
  readonly options: MockEngineOptions;
  /** The engines by number. */
  readonly engines: readonly MockEngine[];
  /** Decides how long each response is. */
  readonly book: ResponseBook;
  /** Durations of decode steps and prefills. */
  readonly cost: CostModel;
  /** Events that are not part of an engine's own work, by simulated time. */
  readonly agenda = new Agenda();
  #now = 0;
  #minted = 0;
  #named = 0;
  #listeners: FaultListener[] = [];

  /** @throws PolicyError `invalid_config` for invalid options */
  constructor(input: MockEngineInput, { cost, workload }: ClusterParts) {
    const options = readOptions(input, cost);
    this.options = options;
    this.cost = cost;
    this.book = new ResponseBook(workload);
    const context = { options, cost, book: this.book, agenda: this.agenda, now: () => this.#now };
    this.engines = Array.from({ length: options.engines }, (_, number) => new MockEngine(number, context));
    for (const fault of options.faults) this.agenda.at(fault.at ?? 0, () => this.fault(fault));
  }

  /** Simulated seconds since the start. */
  get now(): number {
    return this.#now;
  }

  /** Whether a client reads a streamed response. */
  get streams(): boolean {
    return this.engines.some((one) => one.streams);
  }

  /** Names a request that has no id, by its order of arrival: a random name would make runs impossible to repeat. */
  nameRequest(): string {
    this.#named += 1;
    return this.#named.toString(16).padStart(32, '0');
  }

  /** Returns a unique id. Of requests that arrive at the same time, those with lower ids go first. */
  mint(requestId: string): string {
    this.#minted += 1;
    return `${requestId} ${this.#minted}`;
  }

  /** Returns the time of the next event; `Infinity` if there is none. */
  nextAt(): number {
    let next = this.agenda.nextAt();
    for (const engine of this.engines) next = Math.min(next, engine.nextAt());
    return next;
  }

  /** Advances the clock to a time; an earlier time leaves it as it is. */
  advanceTo(at: number): void {
    for (let next = this.nextAt(); next <= at; next = this.nextAt()) this.#step(next);
    this.#now = Math.max(this.#now, at);
    for (const engine of this.engines) engine.tell();
  }

  /** Adds a listener for faults that affect connections. */
  onFault(listener: FaultListener): void {
    this.#listeners.push(listener);
  }

  /** Applies a fault now. */
  fault(fault: Fault): void {
    for (const engine of this.engines) {
      if (fault.engine !== undefined && fault.engine !== engine.number) continue;
      applyFault(fault, engine, this, (connectionFault) => {
        for (const listener of this.#listeners) listener(connectionFault, engine);
      });
    }
  }

  #step(at: number): void {
    this.#now = Math.max(this.#now, at);
    this.agenda.runDue(this.#now);
    for (const engine of this.engines) engine.advance();
  }
}
