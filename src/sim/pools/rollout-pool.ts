/** The rollout pool as a machine: requests that the policies let in, responses out. */
import type { AnyEvent } from '../../core/definition.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import { EnginePool } from '../cluster/engine-pool.ts';
import type { Machine } from '../cluster/machine.ts';
import type { PromptSource } from '../cluster/source.ts';
import { sumOf } from '../metrics.ts';
import type { PoolsJob } from './settings.ts';

/** A listener for the requests of the engines. */
export interface RolloutObserver {
  started(): void;
  completed(requestId: string, at: number): void;
  aborted(requestId: string, at: number): void;
}

/** Inference engines; a request goes to the one that has fewest. */
export class RolloutPool implements Machine {
  readonly engines: EnginePool;
  readonly #source: PromptSource;
  readonly #observer: RolloutObserver;

  constructor(job: PoolsJob, source: PromptSource, timeline: boolean, observer: RolloutObserver) {
    this.engines = new EnginePool(job.engines, job.cost, timeline);
    this.#source = source;
    this.#observer = observer;
  }

  /** Preemptions since the job began. */
  get preemptions(): number {
    return sumOf(this.engines.rows, (row) => row.preemptions);
  }

  carryOut(decision: VocabularyDecision, at: number): void {
    if (decision.type === 'request.abort') return this.engines.abort(decision.requestId, at);
    // With a frontier a launch stays in the policy, and its admission comes out.
    if (decision.type !== 'request.admit' && decision.type !== 'request.launch') return;
    const { requestId, promptId, index } = decision;
    const { tokens, promptTokens } = this.#source.draw(requestId, promptId, index);
    this.engines.launch({ requestId, promptTokens, responseTokens: tokens }, undefined, at);
    this.#observer.started();
  }

  nextAt(): number {
    return this.engines.nextEventAt();
  }

  advanceTo(at: number): AnyEvent[] {
    return this.engines.advanceTo(at).map(({ requestId, kind, tokens }) => {
      this.#observer[kind](requestId, at);
      const type = kind === 'completed' ? 'response.completed' : 'request.aborted';
      return { type, at, requestId, tokens } as AnyEvent;
    });
  }
}
