/** The books of a host on its requests: those in flight, with their progress, and those that are over. */
import type { VocabularyDecision } from '../schemas/index.ts';
import { checkFresh, checkLimits, claim, type Flight, type HostModelConfig, holds } from './host-rules.ts';

type Told<T extends VocabularyDecision['type']> = Extract<VocabularyDecision, { type: T }>;

/** Requests of a host. Numbers of invariants are those in the README of speculative-admission. */
export class RequestBook {
  /** Requests that were launched and are not over, by request id. */
  readonly flights = new Map<string, Flight>();
  /** Requests that were launched and are over, oldest first. */
  readonly over: string[] = [];
  readonly #config: HostModelConfig;
  readonly #minted = new Set<string>();

  constructor(config: HostModelConfig) {
    this.#config = config;
  }

  /** Checks invariants 4, 5, 7 and 8: a request is launched for the open round, once, within the limits, with fresh tokens. */
  launched(decision: Told<'request.launch'>, openRoundId: string | undefined): void {
    const { requestId, roundId, promptId, engineId, resumeFrom } = decision;
    claim(!this.#minted.has(requestId), `invariant 5: ${requestId} is launched a second time`);
    claim(roundId === openRoundId, `invariant 7: ${requestId} is launched for ${roundId}, open is ${openRoundId}`);
    this.#minted.add(requestId);
    this.flights.set(requestId, { promptId, engineId, phase: 'running' });
    if (resumeFrom !== undefined) checkFresh(this.#config, resumeFrom.weightVersions, decision.weightVersion);
    checkLimits(this.#config, this.flights, engineId);
  }

  /** Notes the engine on which a request has started. */
  started(requestId: string, engineId: string): void {
    const flight = this.flights.get(requestId);
    if (flight !== undefined && holds(flight)) flight.engineId = engineId;
  }

  /** Notes that a request waits for its environment, or may resume; an aborting one does neither. */
  setPhase(requestId: string, phase: 'waiting' | 'resuming'): void {
    const flight = this.flights.get(requestId);
    if (flight !== undefined && flight.phase !== 'aborting') flight.phase = phase;
  }

  /** Checks invariant 4: only a request that may resume does, within the limits. */
  resumed({ requestId, engineId }: Told<'request.resume'>): void {
    const flight = this.flights.get(requestId);
    claim(flight?.phase === 'resuming', `${requestId} is to resume and is ${flight?.phase ?? 'not in flight'}`);
    Object.assign(flight!, { phase: 'running', engineId: engineId ?? flight!.engineId });
    checkLimits(this.#config, this.flights, engineId);
  }

  /** Checks invariant 7: aborts name requests in flight, each once. */
  toStop(requestId: string): void {
    const flight = this.flights.get(requestId);
    claim(flight !== undefined, `invariant 7: abort of ${requestId}, which is not in flight`);
    claim(flight!.phase !== 'aborting', `invariant 7: second abort of ${requestId}`);
    if (!holds(flight!)) flight!.engineId = undefined;
    flight!.held = holds(flight!);
    flight!.phase = 'aborting';
  }

  /** Ends a request, unless it is over. */
  end(requestId: string): void {
    if (this.flights.delete(requestId)) this.over.push(requestId);
  }

  /** Ends the requests that a lost engine held. */
  engineLost(engineId: string): void {
    for (const [id, flight] of this.flights) if (flight.engineId === engineId && holds(flight)) this.end(id);
  }
}
