/** Checks a host from the policy's side: compares its reports with the decisions that it received. */
import type { TailBatchingEvent } from '../../recipes/tail-batching/index.ts';
import type { VocabularyDecision, VocabularyEvent } from '../../schemas/index.ts';

/** An event that a host reports: a notice that it sends as an event may lack its reason. */
export type HostReport = VocabularyEvent | TailBatchingEvent;

/** `setTimeout` of Node may fire a millisecond early; the policy then sets the timer once more. */
const timerToleranceSeconds = 0.002;

interface Request {
  toldToStop: boolean;
  /** Types of the reports that have ended the request, in order. */
  readonly ends: string[];
}

/** Records decisions and events in order. `problems` are certain faults; `debts` are reports that may still come. */
export class HostAudit {
  /** Faults of the host, one line each. */
  readonly problems: string[] = [];
  readonly #requests = new Map<string, Request>();
  readonly #timers = new Map<string, number>();
  readonly #rounds = new Map<string, 'open' | 'draining'>();
  #asked: { readonly roundId: string; readonly count: number } | undefined;

  /** Whether a round is open or draining. */
  get hasRound(): boolean {
    return this.#rounds.size > 0;
  }

  /** Records a decision that is passed to the host. */
  told(decision: VocabularyDecision): void {
    switch (decision.type) {
      case 'round.planned':
        this.#rounds.set(decision.roundId, 'open');
        break;
      case 'prompts.request':
        this.#asked = decision;
        break;
      case 'request.launch':
        this.#requests.set(decision.requestId, { toldToStop: false, ends: [] });
        break;
      case 'request.abort': {
        const request = this.#requests.get(decision.requestId);
        if (request !== undefined) request.toldToStop = true;
        break;
      }
      case 'timer.set':
        this.#timers.set(decision.timerId, decision.fireAtSeconds);
        break;
      case 'round.completed':
        this.#rounds.set(decision.roundId, 'draining');
        this.#asked = undefined;
        break;
      case 'round.drained':
      case 'source.drained':
        this.#rounds.delete(decision.roundId);
        break;
      default:
    }
  }

  /** Records an event that the host reports, before the policy sees it. */
  heard(event: HostReport): void {
    switch (event.type) {
      case 'response.completed':
      case 'response.failed':
      case 'request.aborted':
        this.#ended(event.requestId, event.type);
        break;
      case 'prompts.supplied':
        if (event.prompts.length > 0) this.#asked = undefined;
        break;
      case 'source.exhausted':
        this.#asked = undefined;
        break;
      case 'timer.fired': {
        const due = this.#timers.get(event.timerId);
        if (due === undefined) this.problems.push(`${event.timerId} fires and is not set, or a second time`);
        else if (event.at < due - timerToleranceSeconds)
          this.problems.push(`${event.timerId} fires at ${event.at}, before ${due}`);
        this.#timers.delete(event.timerId);
        break;
      }
      default:
    }
  }

  #ended(requestId: string, type: string): void {
    const request = this.#requests.get(requestId);
    if (request === undefined) {
      this.problems.push(`${type} of ${requestId}, which was never launched`);
      return;
    }
    const before = request.ends.at(-1);
    request.ends.push(type);
    if (before === undefined) return;
    // A late abort may be confirmed after the report that the response is complete or has failed.
    if (type === 'request.aborted' && request.toldToStop && request.ends.length === 2 && before !== type) return;
    this.problems.push(`${requestId} ends twice: ${request.ends.join(', ')}`);
  }

  /** Returns the reports that the host still owes, one line each. */
  debts(): string[] {
    const debts: string[] = [];
    if (this.#asked !== undefined)
      debts.push(`${this.#asked.roundId} asked for ${this.#asked.count} prompts: none came, nor source.exhausted`);
    for (const [requestId, { toldToStop, ends }] of this.#requests) {
      if (ends.length > 0) continue;
      debts.push(
        toldToStop
          ? `abort of ${requestId} was not answered: no request.aborted, and no response either`
          : `${requestId} was launched and has not ended: no response.completed, response.failed or request.aborted`,
      );
    }
    for (const [timerId, due] of this.#timers) debts.push(`${timerId} was set to ${due} and has not fired`);
    for (const [roundId, phase] of this.#rounds)
      debts.push(`${roundId} ${phase === 'open' ? 'is not complete' : 'has not drained'}`);
    return debts;
  }
}
