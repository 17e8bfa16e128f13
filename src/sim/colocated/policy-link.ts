/**
 * Connects the policy with the simulated cluster: its machines send events, and carry out decisions. It has no
 * knowledge of particular policies; notices are only recorded.
 */
import type { AnyDecision, AnyEvent } from '../../core/definition.ts';
import { refuse } from '../../errors.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { FinalPrompt, Prompt } from '../../schemas/prompts.ts';
import type { KeptResponses } from '../cluster/kept.ts';
import type { RoundRecord } from '../cluster/round-record.ts';
import { Timers } from '../cluster/timers.ts';
import type { Cluster } from './cluster.ts';
import type { DrivenPolicy, Scheduler } from './scheduler.ts';

export class PolicyLink {
  /** The simulated time, in seconds. */
  now = 0;
  /** Deferred prompts that wait in the policy. */
  queueDepth = 0;
  /** The policy has said that nothing is left to plan a round with. */
  isOver = false;
  /** Tokens of every trained response. */
  readonly lengths: number[] = [];
  readonly #kept: KeptResponses;
  readonly #scheduler: Scheduler;
  readonly #policy: DrivenPolicy;
  readonly #cluster: Cluster;
  readonly #timers = new Timers();
  readonly #pending: AnyDecision[] = [];
  /** Rounds that are not trained yet. */
  readonly #records = new Map<string, RoundRecord>();
  #record: RoundRecord | undefined;
  #sourceTold = false;

  constructor(scheduler: Scheduler, cluster: Cluster, kept: KeptResponses, validate: boolean) {
    this.#kept = kept;
    this.#scheduler = scheduler;
    this.#policy = scheduler.create({ validate });
    this.#cluster = cluster;
    for (const event of cluster.joining) {
      if (this.#policy.takes?.(event.type) ?? true) this.#send(event);
    }
  }

  /**
   * Opens a round and lets it run until all its requests have ended, and until the weights are new where the policy sees to
   * that: those of this round, or of the one before in a one-step off-policy pipeline. Or until the policy has nothing left to
   * plan with.
   */
  rollOut(record: RoundRecord): void {
    const before = this.#record;
    this.#record = record;
    this.#records.set(record.roundId, record);
    this.#cluster.inference.beginRound(record, this.now);
    this.#reopenSource();
    const { roundId, step } = record;
    const { trains, oneStepOff } = this.#scheduler;
    const weightVersion = step - record.lag;
    this.#send(this.#scheduler.openRound({ at: this.now, roundId, weightVersion }));
    this.#report();
    const awaited = oneStepOff ? before : record;
    this.#runUntil(
      roundId,
      () => record.drainedAt !== undefined && (!trains || awaited === undefined || awaited.trainedAt !== undefined),
    );
  }

  /** Trains the last round of a one-step off-policy pipeline. */
  trainLast(record: RoundRecord): void {
    this.#runUntil(record.roundId, () => record.trainedAt !== undefined);
  }

  #runUntil(roundId: string, isDone: () => boolean): void {
    while (!isDone() && !this.isOver) {
      if (!this.#runOnce(Number.MAX_VALUE)) this.#stalled(roundId);
    }
  }

  /** Advances the time; machines and timers act meanwhile. */
  passTime(until: number): void {
    while (this.#runOnce(until));
    this.now = Math.max(this.now, until);
  }

  /** Advances to the next event, if that is not later than a moment. */
  #runOnce(until: number): boolean {
    const machinesAt = this.#cluster.machines.reduce((least, one) => Math.min(least, one.nextAt()), Infinity);
    const timersAt = this.#timers.nextAt();
    if (Math.min(machinesAt, timersAt) > until) return false;
    this.now = Math.max(this.now, Math.min(machinesAt, timersAt));
    if (timersAt < machinesAt) {
      const timerId = this.#timers.take(timersAt)!;
      this.#send({ type: 'timer.fired', at: timersAt, timerId } as AnyEvent);
    }
    this.#report();
    return true;
  }

  /** Reports events to the policy until there is nothing new at this moment. */
  #report(): void {
    for (let isNew = true; isNew; ) {
      isNew = false;
      for (const machine of this.#cluster.machines) {
        for (const event of machine.advanceTo(this.now)) {
          isNew = true;
          this.#send(event);
        }
      }
    }
  }

  #send(event: AnyEvent): void {
    const isOuter = this.#pending.length === 0;
    for (const decision of this.#policy.send(event)) this.#pending.push(decision);
    if (!isOuter) return;
    // Keeps the order: effects of a decision come after all decisions that were made with it.
    for (let index = 0; index < this.#pending.length; index += 1) {
      this.#carryOut(this.#pending[index] as VocabularyDecision);
    }
    this.#pending.length = 0;
  }

  #carryOut(decision: VocabularyDecision): void {
    switch (decision.type) {
      case 'prompts.request':
        this.#supply(decision.roundId, decision.count);
        break;
      case 'timer.set':
        this.#timers.set(decision.timerId, decision.fireAtSeconds);
        break;
      case 'round.planned':
        this.queueDepth -= decision.queued.filter(({ deferral }) => deferral !== undefined).length;
        break;
      case 'prompt.deferred':
        this.#defer(decision.prompt);
        break;
      case 'prompt.returned':
        if (!this.#scheduler.holdsDeferred) this.#cluster.source.giveBack(decision.prompt);
        break;
      case 'round.completed':
        this.#complete(this.#of(decision), decision);
        break;
      case 'round.drained':
        this.#of(decision).drainedAt = this.now;
        if (!this.#scheduler.trains) this.#records.delete(decision.roundId);
        break;
      case 'group.rewarded':
        this.#kept.rewarded(decision.responses);
        break;
      case 'round.rewarded':
        this.#of(decision).rewardedAt = this.now;
        break;
      case 'round.trained':
        this.#of(decision).trainedAt = this.now;
        this.#records.delete(decision.roundId);
        break;
      case 'source.drained':
        this.isOver = true;
        break;
      default:
    }
    for (const machine of this.#cluster.machines) machine.carryOut(decision, this.now);
  }

  /** Returns the round that a decision names; for an unknown one, the open round. */
  #of({ roundId }: { readonly roundId: string }): RoundRecord {
    return this.#records.get(roundId) ?? this.#record!;
  }

  #supply(roundId: string, count: number): void {
    const at = this.now;
    const prompts = this.#cluster.source.take(count);
    if (prompts.length > 0) this.#send({ type: 'prompts.supplied', at, roundId, prompts } as AnyEvent);
    if (this.#cluster.source.left > 0 || this.#sourceTold) return;
    this.#sourceTold = true;
    this.#send({ type: 'source.exhausted', at } as AnyEvent);
  }

  /** Reopens the source, since prompts may have been returned to it after it was exhausted. */
  #reopenSource(): void {
    if (!this.#sourceTold || this.#cluster.source.left === 0) return;
    this.#sourceTold = false;
    this.#send({ type: 'source.reopened', at: this.now } as AnyEvent);
  }

  #defer(prompt: Prompt): void {
    this.#record!.deferredPrompts += 1;
    this.#cluster.source.deferred(prompt);
    if (this.#scheduler.holdsDeferred) this.queueDepth += 1;
    else this.#cluster.source.giveBack(prompt);
  }

  #complete(
    record: RoundRecord,
    { kind, prompts }: { readonly kind: 'short' | 'long'; readonly prompts: readonly FinalPrompt[] },
  ): void {
    record.complete(kind, prompts, this.#cluster.inference.capped);
    const { source, rewardsOf } = this.#cluster;
    for (const { promptId, responses } of prompts) {
      for (const { tokens } of responses) this.lengths.push(tokens);
      this.#kept.add(source, promptId, responses);
      if (rewardsOf !== undefined) this.#kept.rewarded(rewardsOf(responses));
      source.trained(promptId);
    }
  }

  #stalled(roundId: string): never {
    const expected = `${this.#policy.id} to drain round ${roundId}`;
    refuse('infeasible', '', expected, 'no request in flight and no timer set');
  }
}
