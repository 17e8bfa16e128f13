/**
 * The books of a host: what it sent and what it was told, and from that alone where every prompt and every response
 * must be. Numbers of invariants are those in the READMEs of speculative-admission and tail-batching.
 */
import type { Prompt, VocabularyDecision, VocabularyEvent } from '../schemas/index.ts';

import {
  checkCollected,
  checkCompleted,
  checkFresh,
  checkLimits,
  checkPlanned,
  claim,
  type Flight,
  type HostModelConfig,
  holds,
  type OpenRound,
} from './host-rules.ts';
import { addTo, fewer, type Multiset, multisetOf, textOfSet } from './multiset.ts';

/** Prompts and responses that a policy says it holds, by their ids; one that is held twice stands there twice. */
export interface Places {
  /** Ids of prompts. */
  readonly prompts: readonly string[];
  /** Request ids of complete responses. */
  readonly responses: readonly string[];
}

type Told<T extends VocabularyDecision['type']> = Extract<VocabularyDecision, { type: T }>;

const finished = (prompt: Prompt) => (prompt.kept ?? []).filter((one) => one.finished);

/**
 * A host's books for a policy with the words of speculative-admission, or a recipe with those of tail-batching.
 * Enter every event that was taken (`sent`), then each of its decisions in order (`told`), then call `settle`.
 * Each throws an `Error` that names what does not follow.
 */
export class HostModel {
  /** Requests that were launched and are not over, by request id. */
  readonly flights = new Map<string, Flight>();
  /** Held responses whose reward is awaited. */
  readonly toReward = new Set<string>();
  /** Collected prompts whose judgement is awaited. */
  readonly toJudge = new Set<string>();
  /** Timers that were set, by name: when they fire, in seconds. */
  readonly timers = new Map<string, number>();
  /** Requests that were launched and are over, oldest first. */
  readonly over: string[] = [];
  /** The open round. */
  round: OpenRound | undefined;
  /** Rounds that have begun. */
  rounds = 0;
  /** Rounds whose requests are not all over. */
  readonly undrained = new Set<string>();
  /** Whether prompts were asked for since the round opened or prompts last came. */
  isAwaiting = false;
  /** Whether the source has no more prompts. */
  isExhausted = false;
  /** How often the host has restarted. */
  restarts = 0;
  readonly #config: HostModelConfig;
  readonly #prompts: Multiset = new Map();
  readonly #responses: Multiset = new Map();
  readonly #minted = new Set<string>();
  readonly #accepted = new Set<string>();
  #queues = false;

  /**
   * Empty books.
   *
   * @param config - the policy's configuration, its defaults filled in
   */
  constructor(config: HostModelConfig) {
    this.#config = config;
  }

  /** Enters an event that the policy has taken. */
  sent(event: VocabularyEvent): void {
    switch (event.type) {
      case 'round.requested':
        this.#queues = true;
        break;
      case 'round.opened':
        this.#open(event);
        this.#enter(event.prompts);
        break;
      case 'prompts.supplied':
        this.#enter(event.prompts);
        break;
      case 'response.completed':
        addTo(this.#responses, event.requestId, 1);
        this.#end(event.requestId);
        break;
      case 'response.failed':
      case 'environment.failed':
      case 'request.aborted':
        this.#end(event.requestId);
        break;
      case 'engine.lost':
        for (const [id, flight] of this.flights) if (flight.engineId === event.engineId && holds(flight)) this.#end(id);
        break;
      case 'request.started': {
        const flight = this.flights.get(event.requestId);
        if (flight !== undefined && holds(flight)) flight.engineId = event.engineId;
        break;
      }
      case 'environment.waiting':
        this.#setPhase(event.requestId, 'waiting');
        break;
      case 'environment.resumed':
        this.#setPhase(event.requestId, 'resuming');
        break;
      case 'source.exhausted':
        this.isExhausted ||= event.domain === undefined;
        break;
      case 'source.reopened':
        this.isExhausted = false;
        break;
      case 'reward.ready':
        this.toReward.delete(event.requestId);
        break;
      case 'prompt.judged':
        this.toJudge.delete(event.promptId);
        break;
      case 'timer.fired':
        this.timers.delete(event.timerId);
        break;
      case 'host.restarted':
        this.restarts += 1;
        this.flights.clear();
        break;
      default:
    }
  }

  /** Enters a decision, in the order given. */
  told(decision: VocabularyDecision): void {
    switch (decision.type) {
      case 'round.planned':
        checkPlanned(this.#config, decision);
        this.#open(decision);
        break;
      case 'prompts.request':
        claim(decision.count > 0, `asks for ${decision.count} prompts`);
        this.isAwaiting = true;
        break;
      case 'request.launch':
        this.#launched(decision);
        break;
      case 'request.resume':
        this.#resumed(decision);
        break;
      case 'request.abort':
        this.#toStop(decision.requestId);
        break;
      case 'request.expired':
        this.#end(decision.requestId);
        break;
      case 'timer.set':
        this.timers.set(decision.timerId, decision.fireAtSeconds);
        break;
      case 'response.surplus':
        this.#drop([decision]);
        break;
      case 'response.late':
        if (decision.reason.code === 'completion') this.#drop([decision]);
        break;
      case 'response.dropped':
        if (decision.finished) this.#drop([decision]);
        break;
      case 'response.accepted': {
        const { requestId } = decision;
        claim(!this.#accepted.has(requestId), `nothing twice: ${requestId} is accepted a second time`);
        claim(this.#responses.has(requestId), `${requestId} is accepted and is not there`);
        this.#accepted.add(requestId);
        this.toReward.add(requestId);
        break;
      }
      case 'reward.request':
        this.toReward.add(decision.requestId);
        break;
      case 'prompt.collected':
        checkCollected(this.#config, decision);
        this.toJudge.add(decision.promptId);
        break;
      case 'prompt.filtered':
      case 'prompt.quarantined':
      case 'prompt.merged':
        addTo(this.#prompts, decision.promptId, -1);
        // A merged one leaves its twin behind, which may wait for its judgement.
        if (decision.type !== 'prompt.merged') this.toJudge.delete(decision.promptId);
        this.#drop(decision.dropped);
        break;
      case 'prompt.deferred':
      case 'prompt.returned':
        this.#drop(decision.dropped);
        this.toJudge.delete(decision.prompt.promptId);
        if (this.#queues) break;
        addTo(this.#prompts, decision.prompt.promptId, -1);
        this.#drop(finished(decision.prompt));
        break;
      case 'round.completed':
        this.#completed(decision);
        break;
      case 'round.drained':
        claim(this.undrained.delete(decision.roundId), `invariant 6: ${decision.roundId} drains a second time`);
        break;
      case 'source.drained':
        this.round = undefined;
        break;
      default:
    }
  }

  /** After the decisions of an event: nothing was handed over that never came in, nor twice. */
  settle(): void {
    const bad = fewer(this.#prompts) ?? fewer(this.#responses);
    claim(bad === undefined, `nothing twice: ${bad} is handed over more often than it came in`);
  }

  /** Invariants 1 and 2: a policy holds exactly what the books say is there. */
  compareWith(places: Places): void {
    for (const [name, here, book] of [
      ['prompts', places.prompts, this.#prompts],
      ['responses', places.responses, this.#responses],
    ] as const) {
      const [got, want] = [textOfSet(multisetOf(here)), textOfSet(book)];
      claim(got === want, `nothing is lost, ${name}: the host has handed over ${want}, the policy holds ${got}`);
    }
  }

  /** The round, the requests and the prompts in the books, as one line. */
  describe(): string {
    const flights = [...this.flights].map(([id, { phase }]) => `${id} ${phase}`);
    return JSON.stringify({ round: this.round, flights, prompts: [...this.#prompts] });
  }

  #end(requestId: string): void {
    if (this.flights.delete(requestId)) this.over.push(requestId);
  }

  #drop(list: readonly { requestId: string }[]): void {
    for (const { requestId } of list) addTo(this.#responses, requestId, -1);
  }

  #open(round: { roundId: string; kind: 'short' | 'long'; weightVersion: number }): void {
    this.round = { id: round.roundId, kind: round.kind, weightVersion: round.weightVersion };
    this.rounds += 1;
    this.undrained.add(round.roundId);
    this.isAwaiting = false;
  }

  #enter(prompts: readonly Prompt[]): void {
    for (const prompt of prompts) {
      addTo(this.#prompts, prompt.promptId, 1);
      for (const one of finished(prompt)) addTo(this.#responses, one.requestId, 1);
    }
  }

  #setPhase(requestId: string, phase: Flight['phase']): void {
    const flight = this.flights.get(requestId);
    if (flight !== undefined && flight.phase !== 'aborting') flight.phase = phase;
  }

  #launched(decision: Told<'request.launch'>): void {
    const { requestId, roundId, promptId, engineId, resumeFrom } = decision;
    claim(!this.#minted.has(requestId), `invariant 5: ${requestId} is launched a second time`);
    claim(
      roundId === this.round?.id,
      `invariant 7: ${requestId} is launched for ${roundId}, open is ${this.round?.id}`,
    );
    this.#minted.add(requestId);
    this.flights.set(requestId, { promptId, engineId, phase: 'running' });
    if (resumeFrom !== undefined) checkFresh(this.#config, resumeFrom.weightVersions, decision.weightVersion);
    checkLimits(this.#config, this.flights, engineId);
  }

  #resumed(decision: Told<'request.resume'>): void {
    const flight = this.flights.get(decision.requestId);
    claim(
      flight?.phase === 'resuming',
      `${decision.requestId} is to resume and is ${flight?.phase ?? 'not in flight'}`,
    );
    Object.assign(flight!, { phase: 'running', engineId: decision.engineId ?? flight!.engineId });
    checkLimits(this.#config, this.flights, decision.engineId);
  }

  /** Invariant 7: aborts name what is in flight, each once. */
  #toStop(requestId: string): void {
    const flight = this.flights.get(requestId);
    claim(flight !== undefined, `invariant 7: abort of ${requestId}, which is not in flight`);
    claim(flight!.phase !== 'aborting', `invariant 7: second abort of ${requestId}`);
    if (!holds(flight!)) flight!.engineId = undefined;
    flight!.held = holds(flight!);
    flight!.phase = 'aborting';
  }

  #completed(decision: Told<'round.completed'>): void {
    checkCompleted(this.#config, decision, this.round);
    for (const { promptId, responses } of decision.prompts) {
      for (const { requestId } of responses) addTo(this.#responses, requestId, -1);
      addTo(this.#prompts, promptId, -1);
    }
    this.round = undefined;
    this.toJudge.clear();
  }
}
