/**
 * A model of a host. The model derives from events and decisions alone where every prompt and response must be. Invariants have
 * the same numbers as in the READMEs of speculative-admission and tail-batching.
 */

import type { VocabularyDecision, VocabularyEvent } from '../../schemas/index.ts';
import type { Message } from '../../schemas/messages.ts';
import { HeldBook, type Places } from './held-book.ts';
import {
  checkCollected,
  checkCompleted,
  checkPlanned,
  claim,
  type Flight,
  type HostModelConfig,
  type OpenRound,
} from './host-rules.ts';
import { RequestBook } from './request-book.ts';

/**
 * A model of the host of a policy with the messages of speculative-admission, or of a recipe with those of tail-batching. Enter
 * every accepted event (`sent`), then each of its decisions in order (`told`), then call `settle`. Each method throws an `Error`
 * with the violated invariant.
 */
export class HostModel {
  /** Held responses that wait for a reward. */
  readonly toReward = new Set<string>();
  /** Collected prompts that wait for judgement. */
  readonly toJudge = new Set<string>();
  /** Times at which timers fire, in seconds, by timer id. */
  readonly timers = new Map<string, number>();
  /** The open round. */
  round: OpenRound | undefined;
  /** Number of rounds that have begun. */
  rounds = 0;
  /** Rounds that still have unfinished requests. */
  readonly undrained = new Set<string>();
  /**
   * Whether the policy has asked for prompts in this round; reset when a round opens, and when the host that plays to the end
   * supplies prompts.
   */
  isAwaiting = false;
  /** Whether the source has no more prompts. */
  isExhausted = false;
  /** Number of restarts of the host. */
  restarts = 0;
  readonly #config: HostModelConfig;
  readonly #requests: RequestBook;
  readonly #held = new HeldBook();
  #queues = false;

  /**
   * Makes a model in which nothing has happened.
   *
   * @param config - the policy's configuration, its defaults filled in
   */
  constructor(config: HostModelConfig) {
    this.#config = config;
    this.#requests = new RequestBook(config);
  }

  /** Launched and unfinished requests, by request id. */
  get flights(): ReadonlyMap<string, Flight> {
    return this.#requests.flights;
  }

  /** Launched requests that are finished, oldest first. */
  get over(): readonly string[] {
    return this.#requests.over;
  }

  /** Records an event that the policy has accepted. */
  sent(event: VocabularyEvent): void {
    switch (event.type) {
      case 'round.requested':
        this.#queues = true;
        break;
      case 'round.opened':
        this.#open(event);
        this.#held.enter(event.prompts);
        break;
      case 'prompts.supplied':
        this.#held.enter(event.prompts);
        break;
      case 'response.completed':
        this.#held.completed(event.requestId);
        this.#requests.end(event.requestId);
        break;
      case 'response.failed':
      case 'request.aborted':
        this.#requests.end(event.requestId);
        break;
      case 'engine.lost':
        this.#requests.engineLost(event.engineId);
        break;
      case 'request.started':
        this.#requests.started(event.requestId, event.engineId);
        break;
      case 'tool.started':
        this.#requests.setPhase(event.requestId, 'waiting');
        break;
      case 'tool.finished':
        this.#requests.setPhase(event.requestId, 'resuming');
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
        this.#requests.restarted();
        break;
      default:
    }
  }

  /** Records a decision. Decisions must come in their order. */
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
        this.#requests.launched(decision, this.round?.id);
        break;
      case 'request.resume':
        this.#requests.resumed(decision);
        break;
      case 'request.abort':
        this.#requests.toStop(decision.requestId);
        break;
      case 'request.expired':
        this.#requests.end(decision.requestId);
        break;
      case 'timer.set':
        this.timers.set(decision.timerId, decision.fireAtSeconds);
        break;
      case 'response.surplus':
        this.#held.drop([decision]);
        break;
      case 'response.late':
        if (decision.reason.code === 'completion') this.#held.drop([decision]);
        break;
      case 'response.dropped':
        if (decision.finished) this.#held.drop([decision]);
        break;
      case 'response.accepted':
        this.#held.accepted(decision.requestId);
        this.toReward.add(decision.requestId);
        break;
      case 'reward.request':
        this.toReward.add(decision.requestId);
        break;
      case 'prompt.collected':
        checkCollected(this.#config, decision);
        this.toJudge.add(decision.promptId);
        break;
      case 'judgement.request':
        claim(this.toJudge.has(decision.promptId), `${decision.promptId} is to be judged, and is not collected`);
        break;
      case 'prompt.filtered':
      case 'prompt.failed':
      case 'prompt.merged':
        this.#held.promptLeft(decision.promptId);
        // The other half of a merged prompt stays, and may wait for its own judgement.
        if (decision.type !== 'prompt.merged') this.toJudge.delete(decision.promptId);
        this.#held.drop(decision.dropped);
        break;
      case 'prompts.passed':
        for (const one of decision.prompts) this.#held.leave(one);
        break;
      case 'prompt.deferred':
      case 'prompt.returned':
        this.#held.drop(decision.dropped);
        this.toJudge.delete(decision.prompt.promptId);
        if (!this.#queues) this.#held.leave(decision.prompt);
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

  /** Checks, after the decisions of an event, that nothing was handed over more often than it came in. */
  settle(): void {
    this.#held.settle();
  }

  /** Checks invariants 1 and 2: a policy holds exactly the ids in the model. */
  compareWith(held: Places): void {
    this.#held.compareWith(held);
  }

  /** Describes the round, the requests and the prompts in one line. */
  describe(): string {
    const flights = [...this.flights].map(([id, { phase }]) => `${id} ${phase}`);
    return JSON.stringify({ round: this.round, flights, prompts: this.#held.prompts });
  }

  #open(round: { roundId: string; kind: 'short' | 'long'; weightVersion: number }): void {
    this.round = { id: round.roundId, kind: round.kind, weightVersion: round.weightVersion };
    this.rounds += 1;
    this.undrained.add(round.roundId);
    this.isAwaiting = false;
  }

  #completed(decision: Message<'round.completed'>): void {
    checkCompleted(this.#config, decision, this.round);
    for (const { promptId, responses } of decision.prompts) {
      this.#held.drop(responses);
      this.#held.promptLeft(promptId);
      this.toJudge.delete(promptId);
    }
    // Requests that continue in the next round may be judged before that round begins.
    this.round = undefined;
  }
}
