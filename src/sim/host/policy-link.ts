/**
 * Between the policy and the simulated machines: facts become events, decisions are carried out. It knows of no
 * policy in particular; notices only keep the books.
 */
import type { AnyDecision, AnyEvent } from '../../core/definition.ts';
import { PolicyError } from '../../errors.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { FinalPrompt, Prompt } from '../../schemas/prompts.ts';
import type { Outcome } from '../engine/decode-engine.ts';
import type { EnginePool } from './engine-pool.ts';
import type { RoundRecord } from './round-record.ts';
import type { DrivenPolicy, Scheduler } from './scheduler.ts';
import type { PromptSource } from './source.ts';
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
  readonly #pool: EnginePool;
  readonly #source: PromptSource;
  readonly #timers = new Timers();
  /** How often a prompt was deferred: its next responses are other samples. */
  readonly #deferrals = new Map<string, number>();
  /** Requests of the round whose responses are cut at the cap. */
  readonly #capped = new Set<string>();
  readonly #pending: AnyDecision[] = [];
  #record: RoundRecord | undefined;
  #sourceTold = false;

  constructor(scheduler: Scheduler, pool: EnginePool, source: PromptSource, validate: boolean) {
    this.#scheduler = scheduler;
    this.#policy = scheduler.createPolicy({ validate });
    this.#pool = pool;
    this.#source = source;
    for (const { engineId } of pool.engines) this.#send({ type: 'engine.added', at: 0, engineId } as AnyEvent);
  }

  /** Opens a round and lets it run until nothing of it is in flight, or the policy has nothing left to plan with. */
  rollOut(record: RoundRecord): void {
    this.#record = record;
    this.#capped.clear();
    this.#reopenSource();
    const { roundId, step } = record;
    this.#send(this.#scheduler.openRound({ at: this.now, roundId, weightVersion: step }));
    this.#report();
    while (!record.isDrained && !this.isOver) {
      const engineAt = this.#pool.nextEventAt();
      const at = Math.min(engineAt, this.#timers.nextAt());
      if (at === Number.POSITIVE_INFINITY) this.#stalled(roundId);
      if (at < engineAt) this.passTime(at);
      else this.now = at;
      this.#report();
    }
  }

  /** Lets time pass in which the engines do nothing. */
  passTime(until: number): void {
    for (let at = this.#timers.nextAt(); at <= until; at = this.#timers.nextAt()) {
      const timerId = this.#timers.take(until)!;
      this.now = Math.max(this.now, at);
      this.#send({ type: 'timer.fired', at, timerId } as AnyEvent);
    }
    this.now = Math.max(this.now, until);
  }

  /** Tells the policy what has ended by now, until that leads to nothing new at this moment. */
  #report(): void {
    for (let ended = this.#pool.advanceTo(this.now); ended.length > 0; ended = this.#pool.advanceTo(this.now)) {
      for (const outcome of ended) this.#reportOne(outcome);
    }
  }

  #reportOne(outcome: Outcome): void {
    const { requestId, kind, tokens } = outcome;
    this.#record!.ended(outcome);
    const type = kind === 'completed' ? 'response.completed' : 'request.aborted';
    this.#send({ type, at: this.now, requestId, tokens } as AnyEvent);
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
      case 'request.launch':
        this.#launch(decision);
        break;
      case 'request.abort':
        this.#pool.abort(decision.requestId, this.now);
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
        if (!this.#scheduler.holdsDeferred) this.#source.giveBack(decision.prompt);
        break;
      case 'round.completed':
        this.#complete(decision.kind, decision.prompts);
        break;
      case 'round.drained':
        this.#record!.isDrained = true;
        break;
      case 'source.drained':
        this.isOver = true;
        break;
      default:
      // The other notices are for people.
    }
  }

  #supply(roundId: string, count: number): void {
    const at = this.now;
    const prompts = this.#source.take(count);
    if (prompts.length > 0) this.#send({ type: 'prompts.supplied', at, roundId, prompts } as AnyEvent);
    if (this.#source.left > 0 || this.#sourceTold) return;
    this.#sourceTold = true;
    this.#send({ type: 'source.exhausted', at } as AnyEvent);
  }

  /** Prompts may have come back to the source since it was exhausted. */
  #reopenSource(): void {
    if (!this.#sourceTold || this.#source.left === 0) return;
    this.#sourceTold = false;
    this.#send({ type: 'source.reopened', at: this.now } as AnyEvent);
  }

  #launch(decision: Extract<VocabularyDecision, { type: 'request.launch' }>): void {
    const { requestId, promptId, index, engineId } = decision;
    const { tokens, capped } = this.#source.sample(promptId, this.#deferrals.get(promptId) ?? 0, index);
    if (capped) this.#capped.add(requestId);
    const promptTokens = this.#source.promptTokens(promptId);
    this.#pool.launch({ requestId, promptTokens, responseTokens: tokens }, engineId, this.now);
  }

  #defer(prompt: Prompt): void {
    this.#record!.deferredPrompts += 1;
    this.#deferrals.set(prompt.promptId, prompt.deferral!.count);
    if (this.#scheduler.holdsDeferred) this.queueDepth += 1;
    else this.#source.giveBack(prompt);
  }

  #complete(kind: 'short' | 'long', prompts: readonly FinalPrompt[]): void {
    this.#record!.complete(kind, prompts, this.#capped);
    for (const { promptId, responses } of prompts) {
      for (const { tokens } of responses) this.lengths.push(tokens);
      this.#source.trained(promptId);
      this.#deferrals.delete(promptId);
    }
  }

  #stalled(roundId: string): never {
    const expected = `${this.#policy.id} to drain round ${roundId}`;
    throw new PolicyError('infeasible', { expected, got: 'no request in flight and no timer set' });
  }
}
