/** The inference engines as a machine: requests in, responses and confirmed aborts out. */
import type { AnyEvent } from '../../../core/machine/definition.ts';
import type { VocabularyDecision } from '../../../schemas/decisions/index.ts';
import { sumOf } from '../../comparison/metrics.ts';
import type { Outcome } from '../../engine/decode-engine.ts';
import type { EnginePool } from '../engines/engine-pool.ts';
import type { RoundRecord } from '../round-record.ts';
import { type PromptSource, samplesPerTry } from '../source.ts';
import { TokenVersions } from '../versions.ts';
import type { Machine } from './machine.ts';

/** A command to start a request. */
export type Launch = Extract<VocabularyDecision, { type: 'request.launch' | 'request.admit' }>;

/** Engines that generate the samples of a prompt source. */
export class InferenceMachine implements Machine {
  readonly pool: EnginePool;
  protected readonly source: PromptSource;
  protected record: RoundRecord | undefined;
  /** Time from which the engines take requests; earlier requests wait. */
  protected readyAt = 0;
  /** Which weights have generated which token. */
  readonly versions = new TokenVersions();
  /** Requests that continue in the next round, with their generated tokens so far. */
  #paused: { readonly engineId: string; readonly requestId: string; readonly tokens: number }[] = [];
  /** Requests whose abort was decided but not reported yet. */
  protected readonly aborting = new Set<string>();
  readonly #completed: (requestId: string, at: number) => void;
  #preemptedBefore = 0;

  /** @param completed - is told of every complete response, for example to verify it */
  constructor(
    pool: EnginePool,
    source: PromptSource,
    completed: (requestId: string, at: number) => void = () => undefined,
  ) {
    this.pool = pool;
    this.source = source;
    this.#completed = completed;
  }

  /** Preemptions during the round. */
  get preemptions(): number {
    return this.#preempted() - this.#preemptedBefore;
  }

  /** Begins a round: requests that end from now on belong to it. */
  beginRound(record: RoundRecord, _at: number): void {
    this.record = record;
    this.#preemptedBefore = this.#preempted();
  }

  /** Takes requests that continue in the next round off engines that train or wait for training. */
  pause(at: number): void {
    if (this.pool.size === 0) return;
    this.#paused = this.pool.engineIds.flatMap((engineId) =>
      this.pool.release(engineId, at).map((one) => ({ ...one, engineId })),
    );
    this.pool.reclaim();
  }

  /** Continues the paused requests with new weights, which means computing their KV again. */
  goOn(weightVersion: number, at: number): void {
    for (const { engineId, requestId, tokens: generatedTokens } of this.#paused.splice(0)) {
      const { promptId, promptTokens, tokens: responseTokens, sampleOfEpoch } = this.source.drawn(requestId)!;
      const request = { requestId, promptKey: promptId, promptTokens, responseTokens, generatedTokens };
      this.pool.launch(request, engineId, at);
      this.versions.goesOn(promptId, sampleOfEpoch % samplesPerTry, { weightVersion, fromTokens: generatedTokens });
    }
  }

  carryOut(decision: VocabularyDecision, at: number): void {
    switch (decision.type) {
      case 'request.launch':
      // With a frontier, a launch stays inside the policy, and the admission comes out.
      case 'request.admit':
        return this.launch(decision, at);
      case 'request.abort':
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
    return sumOf(this.pool.rows, 'preemptions');
  }

  protected launch(decision: Launch, at: number): void {
    const { engineId, generatedTokens, drawn } = this.draw(decision);
    const { requestId } = decision;
    const { tokens: responseTokens, promptTokens } = drawn;
    const request = { requestId, promptKey: decision.promptId, promptTokens, responseTokens, generatedTokens };
    this.pool.launch(request, engineId, Math.max(at, this.readyAt));
  }

  /** Draws and records the response of a request that begins. */
  protected draw(decision: Launch) {
    const { requestId, promptId, index } = decision;
    const [engineId, generatedTokens] =
      decision.type === 'request.launch' ? [decision.engineId, decision.resumeFrom?.tokens ?? 0] : [undefined, 0];
    const drawn = this.source.draw(requestId, promptId, index, generatedTokens);
    if (decision.type === 'request.launch') this.versions.launched(decision);
    this.record!.started();
    return { engineId, generatedTokens, drawn };
  }

  /** Returns the event for the end of a request. */
  protected report(outcome: Outcome, at: number): AnyEvent {
    const { requestId, kind, tokens } = outcome;
    this.aborting.delete(requestId);
    const { promptTokens = 0, keptTokens = 0 } = this.source.drawn(requestId) ?? {};
    this.record!.ended(outcome, promptTokens, keptTokens);
    if (kind === 'completed') this.#completed(requestId, at);
    const type = kind === 'completed' ? 'response.completed' : 'request.aborted';
    return { type, at, requestId, tokens } as AnyEvent;
  }
}
