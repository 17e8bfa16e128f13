/** The requests of a host: requests in flight with their progress, and finished requests. */

import type { Message } from '../../schemas/messages.ts';
import { checkFresh, checkLimits, claim, type Flight, type HostModelConfig, holds } from './host-rules.ts';

/** Requests of a host. The numbers of invariants are those in the README of speculative-admission. */
export class RequestBook {
  /** Launched and unfinished requests, by request id. */
  readonly flights = new Map<string, Flight>();
  /** Launched requests that are finished, oldest first. */
  readonly over: string[] = [];
  readonly #config: HostModelConfig;
  readonly #minted = new Set<string>();
  /** Requests that were in flight when the host restarted. */
  readonly #lost = new Map<string, Flight>();

  constructor(config: HostModelConfig) {
    this.#config = config;
  }

  /**
   * Checks invariants 4, 5, 7 and 8: each request is launched for the open round, only once, within the limits, and with fresh
   * tokens.
   */
  launched(decision: Message<'request.launch'>, openRoundId: string | undefined): void {
    const { requestId, roundId, promptId, engineId, resumeFrom } = decision;
    claim(!this.#minted.has(requestId), `invariant 5: ${requestId} is launched a second time`);
    claim(roundId === openRoundId, `invariant 7: ${requestId} is launched for ${roundId}, open is ${openRoundId}`);
    this.#minted.add(requestId);
    this.flights.set(requestId, { promptId, engineId, phase: 'running' });
    if (resumeFrom !== undefined) checkFresh(this.#config, resumeFrom.weightVersions, decision.weightVersion);
    checkLimits(this.#config, this.flights, engineId);
  }

  /** Records the engine on which a request has started. */
  started(requestId: string, engineId: string): void {
    const flight = this.flights.get(requestId);
    if (flight !== undefined && holds(flight)) flight.engineId = engineId;
  }

  /** Records that a request waits for its environment, or may resume; has no effect on an aborting request. */
  setPhase(requestId: string, phase: 'waiting' | 'resuming'): void {
    const flight = this.flights.get(requestId);
    if (flight !== undefined && flight.phase !== 'aborting') flight.phase = phase;
  }

  /** Checks invariant 4: a request resumes only when the rules allow it, and within the limits. */
  resumed({ requestId, engineId, reason }: Message<'request.resume'>): void {
    if (reason.code === 'host_restarted') this.#goesOn(requestId);
    const flight = this.flights.get(requestId);
    claim(flight?.phase === 'resuming', `${requestId} is to resume and is ${flight?.phase ?? 'not in flight'}`);
    Object.assign(flight!, { phase: 'running', engineId: engineId ?? flight!.engineId });
    checkLimits(this.#config, this.flights, engineId);
  }

  /** Takes back a request that a restart has interrupted and that continues under the same id. */
  #goesOn(requestId: string): void {
    const lost = this.#lost.get(requestId);
    claim(lost !== undefined, `${requestId} is to go on and was not in flight`);
    this.#lost.delete(requestId);
    this.flights.set(requestId, { promptId: lost!.promptId, engineId: undefined, phase: 'resuming' });
  }

  /** Forgets all work in flight, as a restarting host does. */
  restarted(): void {
    for (const [id, flight] of this.flights) if (flight.phase !== 'aborting') this.#lost.set(id, flight);
    this.flights.clear();
  }

  /** Checks invariant 7: an abort is for a request in flight, and comes only once. */
  toStop(requestId: string): void {
    const flight = this.flights.get(requestId);
    claim(flight !== undefined, `invariant 7: abort of ${requestId}, which is not in flight`);
    claim(flight!.phase !== 'aborting', `invariant 7: second abort of ${requestId}`);
    if (!holds(flight!)) flight!.engineId = undefined;
    flight!.held = holds(flight!);
    flight!.phase = 'aborting';
  }

  /** Ends a request, if it has not ended. */
  end(requestId: string): void {
    if (this.flights.delete(requestId)) this.over.push(requestId);
  }

  /** Ends the requests of a lost engine. */
  engineLost(engineId: string): void {
    for (const [id, flight] of this.flights) if (flight.engineId === engineId && holds(flight)) this.end(id);
  }
}
