/** The inference engines as a machine: requests in, responses and confirmed aborts out. */
import type { AnyEvent } from '../../core/definition.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { Outcome } from '../engine/decode-engine.ts';
import { sumOf } from '../metrics.ts';
import type { EnginePool } from './engine-pool.ts';
import type { Machine } from './machine.ts';
import type { RoundRecord } from './round-record.ts';
import type { PromptSource } from './source.ts';

/** Engines that generate the samples of a prompt source. */
export class InferenceMachine implements Machine {
  protected readonly pool: EnginePool;
  protected readonly source: PromptSource;
  protected record: RoundRecord | undefined;
  /** Time from which the engines take requests; earlier requests wait for it. */
  protected readyAt = 0;
  /** Requests whose abort was decided and is not reported yet. */
  protected readonly aborting = new Set<string>();
  /** Requests of the round whose responses are cut at the cap. */
  readonly #capped = new Set<string>();
  #preemptedBefore = 0;

  constructor(pool: EnginePool, source: PromptSource) {
    this.pool = pool;
    this.source = source;
  }

  /** Requests of the round whose responses are cut at the cap. */
  get capped(): ReadonlySet<string> {
    return this.#capped;
  }

  /** Preemptions of the round. */
  get preemptions(): number {
    return this.#preempted() - this.#preemptedBefore;
  }

  /** Begins a round, to which responses that end from now on belong. */
  beginRound(record: RoundRecord, _at: number): void {
    this.record = record;
    this.#capped.clear();
    this.#preemptedBefore = this.#preempted();
  }

  carryOut(decision: VocabularyDecision, at: number): void {
    if (decision.type === 'request.launch') this.#launch(decision, at);
    else if (decision.type === 'request.abort') {
      this.aborting.add(decision.requestId);
      this.pool.abort(decision.requestId, at);
    }
  }

  nextAt(): number {
    return this.pool.nextEventAt();
  }

  advanceTo(at: number): AnyEvent[] {
    return this.pool.advanceTo(at).map((outcome) => this.report(outcome, at));
  }

  #preempted(): number {
    this.pool.collect();
    return sumOf(this.pool.rows, (row) => row.preemptions);
  }

  #launch(decision: Extract<VocabularyDecision, { type: 'request.launch' }>, at: number): void {
    const { requestId, promptId, index, engineId } = decision;
    const { tokens, capped, promptTokens } = this.source.draw(requestId, promptId, index);
    if (capped) this.#capped.add(requestId);
    this.pool.launch({ requestId, promptTokens, responseTokens: tokens }, engineId, Math.max(at, this.readyAt));
  }

  /** Returns the event for the end of a request. */
  protected report(outcome: Outcome, at: number): AnyEvent {
    const { requestId, kind, tokens } = outcome;
    this.aborting.delete(requestId);
    this.record!.ended(outcome, this.source.drawn(requestId)?.promptTokens ?? 0);
    const type = kind === 'completed' ? 'response.completed' : 'request.aborted';
    return { type, at, requestId, tokens } as AnyEvent;
  }
}
