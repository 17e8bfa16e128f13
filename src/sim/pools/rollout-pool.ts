/** The rollout pool as a machine: requests that the policies let in, responses out. */
import type { AnyEvent } from '../../core/definition.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import { EnginePool } from '../host/engine-pool.ts';
import type { Machine } from '../host/machine.ts';
import type { PromptSource } from '../host/source.ts';
import { sumOf } from '../metrics.ts';
import type { PoolsJob } from './settings.ts';

/** Who is told of what the engines do. */
export interface RolloutObserver {
  started(): void;
  completed(requestId: string, at: number): void;
}

/** Inference engines; a request goes to the one that has fewest. */
export class RolloutPool implements Machine {
  readonly engines: EnginePool;
  readonly #source: PromptSource;
  readonly #startedBy: 'request.admit' | 'request.launch';
  readonly #observer: RolloutObserver;

  /** @param startedBy - the decision that starts a request: where there is a frontier, the launch is not it */
  constructor(
    job: PoolsJob,
    source: PromptSource,
    startedBy: 'request.admit' | 'request.launch',
    timeline: boolean,
    observer: RolloutObserver,
  ) {
    this.engines = new EnginePool(job.engines, job.cost, timeline);
    this.#source = source;
    this.#startedBy = startedBy;
    this.#observer = observer;
  }

  /** Preemptions since the job began. */
  get preemptions(): number {
    return sumOf(this.engines.rows, (row) => row.preemptions);
  }

  carryOut(decision: VocabularyDecision, at: number): void {
    if (decision.type !== this.#startedBy) return;
    const { requestId, promptId, index } = decision as Extract<VocabularyDecision, { type: 'request.admit' }>;
    const { tokens, promptTokens } = this.#source.draw(requestId, promptId, index);
    this.engines.launch({ requestId, promptTokens, responseTokens: tokens }, undefined, at);
    this.#observer.started();
  }

  nextAt(): number {
    return this.engines.nextEventAt();
  }

  advanceTo(at: number): AnyEvent[] {
    return this.engines.advanceTo(at).map(({ requestId, tokens }) => {
      this.#observer.completed(requestId, at);
      return { type: 'response.completed', at, requestId, tokens } as AnyEvent;
    });
  }
}
