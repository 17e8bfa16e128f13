/** The record of one round: observations of the driver, and measurements of the policies. */
import { refuse } from '../../errors.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { PoolsRound } from './result.ts';

type Measured = Extract<VocabularyDecision, { type: 'pipeline.measured' }>;

/** Facts about a round that only the driver knows. */
export interface RoundFrame {
  readonly round: number;
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly preemptions: number;
  readonly bubbleRatio: number;
  readonly lag: number;
}

/** Gathers the record of a round. */
export class RoundLog {
  readonly roundId: string;
  readonly openedSeconds: number;
  /** Time of the last complete response. */
  lastResponseAt: number;
  isTrained = false;
  readonly #hasFrontier: boolean;
  readonly #drains: boolean;
  #isDrained = false;
  #kind: 'short' | 'long' = 'long';
  #measured: Measured | undefined;
  #responses = 0;
  #tokens = 0;
  #longest = 0;
  #capped = 0;
  #inService = 0;
  #mostInService = 0;
  #width: number | undefined;
  #starved = 0;

  /**
   * @param hasFrontier - whether a width says something
   * @param drains - whether requests may be aborted: the round is not over before that is confirmed
   */
  constructor(roundId: string, openedSeconds: number, hasFrontier: boolean, drains: boolean) {
    this.#drains = drains;
    this.roundId = roundId;
    this.#hasFrontier = hasFrontier;
    this.openedSeconds = openedSeconds;
    this.lastResponseAt = openedSeconds;
  }

  started(): void {
    this.#inService += 1;
    this.#mostInService = Math.max(this.#mostInService, this.#inService);
  }

  /** Records that a request has left the engines. */
  ended(): void {
    this.#inService -= 1;
  }

  /** Counts a response that the round trains on. */
  counted(tokens: number, capped: boolean): void {
    this.#responses += 1;
    this.#tokens += tokens;
    this.#longest = Math.max(this.#longest, tokens);
    if (capped) this.#capped += 1;
  }

  /** Keeps the policies' decisions about the round. */
  note(decision: VocabularyDecision): void {
    if (decision.type === 'pipeline.measured') this.#measured = decision;
    else if (decision.type === 'round.trained') this.isTrained = true;
    else if (decision.type === 'round.planned') this.#kind = decision.kind;
    else if (decision.type === 'round.drained') this.#isDrained = true;
    else if (decision.type === 'round.completed') this.lastResponseAt = decision.at;
    else if (decision.type === 'request.admit') this.#width = decision.reason.width;
    else if (decision.type === 'frontier.starved') this.#starved += 1;
  }

  /** Whether the engines have the weights of the round, and its measures are there. */
  get isOver(): boolean {
    return this.isTrained && this.#measured !== undefined && (this.#isDrained || !this.#drains);
  }

  result({ round, startSeconds, endSeconds, preemptions, bubbleRatio, lag }: RoundFrame): PoolsRound {
    const measured = this.#measured;
    if (measured === undefined) {
      refuse('internal', '', 'a round that was measured', this.roundId);
    }
    const mainSeconds = measured.trainEndSeconds;
    return {
      round,
      kind: this.#kind,
      startSeconds,
      endSeconds,
      mainSeconds,
      rolloutSeconds: this.lastResponseAt - this.openedSeconds,
      rewardedSeconds: measured.rolloutSeconds,
      firstBatchSeconds: measured.firstBatchSeconds,
      firstDispatchSeconds: measured.firstDispatchSeconds,
      recoverySeconds: measured.recoverySeconds,
      waitSeconds: measured.waitSeconds,
      computeSeconds: measured.computeSeconds,
      startWaitingRatio: measured.startWaitingRatio,
      computeWaitingRatio: measured.computeWaitingRatio,
      wallClockWaitingRatio: measured.wallClockWaitingRatio,
      publishSeconds: Math.max(0, endSeconds - this.openedSeconds - mainSeconds),
      groups: measured.reason.groups,
      updates: measured.reason.updates,
      responses: this.#responses,
      tokens: this.#tokens,
      maxResponseTokens: this.#longest,
      cappedResponses: this.#capped,
      preemptions,
      bubbleRatio,
      mostInService: this.#mostInService,
      ...(this.#width === undefined || !this.#hasFrontier ? {} : { width: this.#width }),
      starved: this.#starved,
      lag,
    };
  }
}
