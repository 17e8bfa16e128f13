/**
 * Inference engines whose GPUs change roles: the parallelism changes between rounds, and within a round GPUs go from rollout to
 * training and back. Requests move by recomputation: their tokens are kept, and their KV is computed again.
 */
import type { AnyEvent } from '../../../core/machine/definition.ts';
import { refuse } from '../../../errors.ts';
import type { VocabularyDecision } from '../../../schemas/decisions/index.ts';
import type { EnginePool } from '../engines/engine-pool.ts';
import { type Hardware, reshardSeconds } from '../hardware.ts';
import type { RoundRecord } from '../round-record.ts';
import type { PromptSource } from '../source.ts';
import { InferenceMachine } from './inference.ts';

type Decision<T extends VocabularyDecision['type']> = Extract<VocabularyDecision, { type: T }>;

/** Engines that a policy may rearrange. */
export class ElasticInference extends InferenceMachine {
  readonly #hardware: Hardware;
  readonly #rowOfGpu: ReadonlyMap<string, number>;
  readonly #answers: AnyEvent[] = [];
  #tp = 0;
  #release: { readonly at: number; readonly event: AnyEvent } | undefined;
  #openedAt = 0;

  /** @param rowOfGpu - the row of the pool that each GPU belongs to */
  constructor(pool: EnginePool, source: PromptSource, hardware: Hardware, rowOfGpu: ReadonlyMap<string, number>) {
    super(pool, source);
    this.#hardware = hardware;
    this.#rowOfGpu = rowOfGpu;
  }

  override beginRound(record: RoundRecord, at: number): void {
    super.beginRound(record, at);
    this.#openedAt = at;
  }

  override carryOut(decision: VocabularyDecision, at: number): void {
    switch (decision.type) {
      case 'round-tp.set':
        return this.#arrange(decision, at);
      case 'progress.query':
        return this.#progress(decision, at);
      case 'gpus.release':
        return this.#migrate(decision, at);
      case 'gpus.reclaim':
        return this.#return(decision, at);
      case 'round.drained':
        return this.#finishStep(decision, at);
      default:
        super.carryOut(decision, at);
    }
  }

  override nextAt(): number {
    return Math.min(super.nextAt(), this.#release?.at ?? Infinity, this.#answers.length > 0 ? 0 : Infinity);
  }

  override advanceTo(at: number): AnyEvent[] {
    const events = super.advanceTo(at);
    if (this.#release !== undefined && this.#release.at <= at) {
      this.#answers.push(this.#release.event);
      this.#release = undefined;
    }
    if (this.#answers.length === 0) return events;
    // Responses first: a migration of a request that has ended meanwhile is late.
    return [...events, ...this.#answers.splice(0)];
  }

  #arrange({ tp, replicas }: Decision<'round-tp.set'>, at: number): void {
    this.pool.reclaim();
    this.record!.tp = tp;
    if (tp === this.#tp) return;
    const cost = this.#hardware.costs.find((one) => one.tp === tp)?.cost;
    if (cost === undefined) {
      const expected = `one of the degrees of the job, ${this.#hardware.costs.map((one) => one.tp).join(', ')}`;
      refuse('infeasible', 'tp', expected, tp);
    }
    // The first engines exist when the job begins.
    const seconds = this.#tp === 0 ? 0 : reshardSeconds(this.#hardware, tp);
    this.record!.reshardSeconds = seconds;
    this.readyAt = at + seconds;
    this.#openedAt = this.readyAt;
    this.#tp = tp;
    const engines = replicas.map(({ gpuIds }) => {
      const rows = new Set(gpuIds.map((gpuId) => this.#rowOfGpu.get(gpuId)!));
      return { engineId: gpuIds[0]!, rows: [...rows] };
    });
    this.pool.configure(engines, cost);
  }

  #progress({ queryId }: Decision<'progress.query'>, at: number): void {
    const requests = this.pool.progress(at).flatMap(({ engineId, requests: here }) =>
      here.map(({ requestId, tokens }) => {
        const { promptTokens } = this.source.drawn(requestId)!;
        return { requestId, engineId, tokens, promptTokens };
      }),
    );
    this.#answers.push({ type: 'progress.reported', at, queryId, requests } as AnyEvent);
  }

  #migrate({ roundId, releaseId, release, migrations }: Decision<'gpus.release'>, at: number): void {
    const tokens = new Map<string, number>();
    for (const { engineId } of release) {
      for (const lost of this.pool.release(engineId, at)) tokens.set(lost.requestId, lost.tokens);
    }
    const moves = migrations.flatMap(({ requestIds, to }) => requestIds.map((requestId) => ({ requestId, to })));
    for (const { requestId, to } of moves) {
      const generatedTokens = tokens.get(requestId);
      // The request has ended at this very moment; its report is on the way.
      if (generatedTokens === undefined) continue;
      tokens.delete(requestId);
      const { promptId, promptTokens, tokens: responseTokens } = this.source.drawn(requestId)!;
      this.pool.launch({ requestId, promptKey: promptId, promptTokens, responseTokens, generatedTokens }, to, at);
      this.#answers.push(
        { type: 'request.migrated', at, releaseId, requestId } as AnyEvent,
        { type: 'request.started', at, requestId, engineId: to } as AnyEvent,
      );
    }
    for (const [requestId, generated] of tokens) {
      // The abort was waiting for the end of a decode step.
      if (this.aborting.has(requestId)) {
        this.#answers.push(this.report({ requestId, kind: 'aborted', at, tokens: generated }, at));
        continue;
      }
      const expected = 'a migration for every request of the released engines';
      refuse('infeasible', 'migrations', expected, requestId);
    }
    const gpuIds = release.flatMap((engine) => engine.gpuIds);
    const event = { type: 'gpus.released', at, roundId, releaseId, gpuIds } as AnyEvent;
    this.#release = {
      at: at + this.#hardware.releaseSeconds,
      event: { ...event, at: at + this.#hardware.releaseSeconds },
    };
  }

  #return({ releaseId, gpuIds }: Decision<'gpus.reclaim'>, at: number): void {
    // A release that has not become effective is answered first.
    if (this.#release !== undefined) this.#answers.push({ ...this.#release.event, at });
    this.#release = undefined;
    const { roundId } = this.record!;
    this.#answers.push({ type: 'gpus.returned', at, roundId, releaseId, gpuIds: [...gpuIds] } as AnyEvent);
  }

  #finishStep({ roundId }: Decision<'round.drained'>, at: number): void {
    const record = this.record!;
    const { requests, promptTokens, generatedTokens, longestRequest } = record;
    const seconds = at - this.#openedAt;
    if (requests === 0 || seconds <= 0) return;
    const workload = {
      responses: requests,
      promptTokens: promptTokens / requests,
      responseTokens: generatedTokens / requests,
      longestTokens: Math.max(1, longestRequest),
    };
    this.#answers.push({
      type: 'step.finished',
      at,
      roundId,
      kind: record.kind,
      tp: this.#tp,
      preemptions: this.preemptions,
      seconds,
      workload,
    } as AnyEvent);
  }
}
