/** Engines that follow the requests of a log up to an event, and then run in simulated time. */
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { VocabularyEvent } from '../../schemas/events/index.ts';
import { InferenceMachine, type Launch } from '../cluster/machines/inference.ts';
import type { LoggedRequest } from './logged-job.ts';

/** A request that runs, as the log says. */
interface Running {
  engineId: string | undefined;
  readonly promptTokens: number;
  readonly responseTokens: number;
  readonly generatedTokens: number;
}

export class LoggedInference extends InferenceMachine {
  #isLive = false;
  readonly #running = new Map<string, Running>();

  override carryOut(decision: VocabularyDecision, at: number): void {
    if (this.#isLive) return super.carryOut(decision, at);
    if (decision.type === 'request.abort') this.aborting.add(decision.requestId);
    else if (decision.type === 'request.launch') this.#launched(decision);
  }

  #launched(decision: Launch): void {
    const { engineId, generatedTokens, drawn } = this.draw(decision);
    const { promptTokens, tokens: responseTokens } = drawn;
    this.#running.set(decision.requestId, { engineId, promptTokens, responseTokens, generatedTokens });
  }

  /** Is told of an event of the log before the policy is. */
  heard(event: VocabularyEvent): void {
    switch (event.type) {
      case 'request.started':
        if (this.#running.has(event.requestId)) this.#running.get(event.requestId)!.engineId = event.engineId;
        break;
      case 'response.completed':
        return this.#ended(event.requestId, 'completed', event.at, event.tokens);
      case 'request.aborted':
        return this.#ended(event.requestId, 'aborted', event.at, event.tokens);
      case 'response.failed':
        return this.#ended(event.requestId, 'aborted', event.at, 0);
      case 'engine.lost':
        for (const [requestId, { engineId }] of this.#running) {
          if (engineId === event.engineId) this.#ended(requestId, 'aborted', event.at, 0);
        }
        break;
      case 'host.restarted':
        for (const requestId of this.#running.keys()) this.#ended(requestId, 'aborted', event.at, 0);
        break;
      default:
    }
  }

  #ended(requestId: string, kind: 'completed' | 'aborted', at: number, reported: number | undefined): void {
    const running = this.#running.get(requestId);
    if (running === undefined) return;
    this.#running.delete(requestId);
    this.aborting.delete(requestId);
    const tokens = Math.max(reported ?? 0, running.generatedTokens);
    this.record!.ended({ requestId, kind, at, tokens }, running.promptTokens, running.generatedTokens);
  }

  /** Requests that run, and are not to be aborted. */
  get running(): number {
    return this.#running.size;
  }

  /**
   * Continues the running requests in simulated time.
   *
   * @param usualPace - tokens per second for requests whose progress is not in the log
   */
  goLive(at: number, logged: ReadonlyMap<string, LoggedRequest>, usualPace: number): void {
    this.#isLive = true;
    for (const [requestId, { engineId, promptTokens, responseTokens, generatedTokens: kept }] of this.#running) {
      const known = logged.get(requestId)!;
      const lasted = at - known.startSeconds;
      const pace =
        known.tokens === undefined ? usualPace : (known.tokens - kept) / (known.endSeconds - known.startSeconds);
      // A request that ends at this moment has nothing left to generate, and no pace.
      const made = Number.isFinite(pace) ? Math.floor(pace * lasted) : 0;
      const generatedTokens = Math.min(responseTokens - 1, kept + Math.max(0, made));
      const request = { requestId, promptTokens, responseTokens, generatedTokens };
      const runsOn = this.pool.launch(request, engineId, at);
      if (generatedTokens > kept) this.pool.keep(runsOn, requestId, promptTokens + generatedTokens);
    }
    this.#running.clear();
    for (const requestId of this.aborting) this.pool.abort(requestId, at);
  }
}
