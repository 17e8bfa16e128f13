/**
 * Between the policy and the simulated cluster: what happens there becomes events, decisions are carried out there. It
 * knows of no policy in particular; notices only keep the books.
 */
import type { AnyDecision, AnyEvent } from '../../core/definition.ts';
import { PolicyError } from '../../errors.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { FinalPrompt, Prompt } from '../../schemas/prompts.ts';
import type { Cluster } from './cluster.ts';
import type { RoundRecord } from './round-record.ts';
import type { DrivenPolicy, Scheduler } from './scheduler.ts';
import { Timers } from './timers.ts';

export class PolicyLink {
  /** The simulated time, in seconds. */
  now = 0;
  /** Deferred prompts that wait in the policy. */
  queueDepth = 0;
  /** The policy has said that nothing is left to plan a round with. */
  isOver = false;
  /** Tokens of every trained response. */
  readonly lengths: number[] = [];
  readonly #scheduler: Scheduler;
  readonly #policy: DrivenPolicy;
  readonly #cluster: Cluster;
  readonly #timers = new Timers();
  readonly #pending: AnyDecision[] = [];
  #record: RoundRecord | undefined;
  #sourceTold = false;

  constructor(scheduler: Scheduler, cluster: Cluster, validate: boolean) {
    this.#scheduler = scheduler;
    this.#policy = scheduler.createPolicy({ validate });
    this.#cluster = cluster;
    for (const event of cluster.joining) this.#send(event);
  }

  /**
   * Opens a round and lets it run until nothing of it is in flight, and until its weights are new where the policy sees
   * to that; or until the policy has nothing left to plan with.
   */
  rollOut(record: RoundRecord): void {
    this.#record = record;
    this.#cluster.inference.beginRound(record, this.now);
    this.#reopenSource();
    const { roundId, step } = record;
    this.#send(this.#scheduler.openRound({ at: this.now, roundId, weightVersion: step }));
    this.#report();
    while (!this.#isDone(record) && !this.isOver) {
      const machinesAt = this.#cluster.machines.reduce((least, one) => Math.min(least, one.nextAt()), Infinity);
      const at = Math.min(machinesAt, this.#timers.nextAt());
      if (at === Number.POSITIVE_INFINITY) this.#stalled(roundId);
      if (at < machinesAt) this.passTime(at);
      else this.now = at;
      this.#report();
    }
  }

  #isDone({ drainedAt, trainedAt }: RoundRecord): boolean {
    return drainedAt !== undefined && (trainedAt !== undefined || !this.#scheduler.trains);
  }

  /** Lets time pass in which no machine does anything. */
  passTime(until: number): void {
    for (let at = this.#timers.nextAt(); at <= until; at = this.#timers.nextAt()) {
      const timerId = this.#timers.take(until)!;
      this.now = Math.max(this.now, at);
      this.#send({ type: 'timer.fired', at, timerId } as AnyEvent);
    }
    this.now = Math.max(this.now, until);
  }

  /** Tells the policy what has happened by now, until that leads to nothing new at this moment. */
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
    // In order: what a decision leads to comes after everything that was decided with it.
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
        this.#complete(decision.kind, decision.prompts);
        break;
      case 'round.drained':
        this.#record!.drainedAt = this.now;
        break;
      case 'round.rewarded':
        this.#record!.rewardedAt = this.now;
        break;
      case 'round.trained':
        this.#record!.trainedAt = this.now;
        break;
      case 'source.drained':
        this.isOver = true;
        break;
      default:
    }
    for (const machine of this.#cluster.machines) machine.carryOut(decision, this.now);
  }

  #supply(roundId: string, count: number): void {
    const at = this.now;
    const prompts = this.#cluster.source.take(count);
    if (prompts.length > 0) this.#send({ type: 'prompts.supplied', at, roundId, prompts } as AnyEvent);
    if (this.#cluster.source.left > 0 || this.#sourceTold) return;
    this.#sourceTold = true;
    this.#send({ type: 'source.exhausted', at } as AnyEvent);
  }

  /** Prompts may have come back to the source since it was exhausted. */
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

  #complete(kind: 'short' | 'long', prompts: readonly FinalPrompt[]): void {
    this.#record!.complete(kind, prompts, this.#cluster.inference.capped);
    for (const { promptId, responses } of prompts) {
      for (const { tokens } of responses) this.lengths.push(tokens);
      this.#cluster.source.trained(promptId);
    }
  }

  #stalled(roundId: string): never {
    const expected = `${this.#policy.id} to drain round ${roundId}`;
    throw new PolicyError('infeasible', { expected, got: 'no request in flight and no timer set' });
  }
}
