/**
 * A host that follows a log up to an event, and then runs in simulated time: with the policy unchanged, with other settings, or
 * with another policy after the open round.
 */

import type { AnyPolicyDefinition } from '../../core/machine/definition.ts';
import type { Snapshot } from '../../core/machine/snapshot.ts';
import { create } from '../../core/machine/start.ts';
import { EnginePool } from '../cluster/engines/engine-pool.ts';
import type { DrivenPolicy } from '../cluster/event-loop.ts';
import { RoundRecord } from '../cluster/round-record.ts';
import { PromptSource } from '../cluster/source.ts';
import { ColocatedHost } from '../colocated/driver.ts';
import type { Job } from '../colocated/job.ts';
import type { Scheduler } from '../colocated/scheduler.ts';
import type { RunResult } from '../comparison/result.ts';
import type { Workload } from '../workload/workload.ts';
import { LoggedInference } from './logged-inference.ts';
import { keepsTokens, type LoggedJob } from './logged-job.ts';

/** The event at which the simulation begins, and the changes from there on. */
export interface Fork {
  readonly logged: LoggedJob;
  readonly definition: AnyPolicyDefinition;
  /** Number of the last event that is taken from the log. */
  readonly at: number;
  /** Settings that change from there on. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The policy that opens the rounds after the open one; the log's policy if absent. */
  readonly scheduler?: Scheduler | undefined;
  /** Ids of the engines; those of the job if the list is empty. */
  readonly engineIds: readonly string[];
  /** Tokens per second for requests whose progress is not in the log. */
  readonly usualPace: number;
}

/** A policy that another policy can replace. */
class ExchangedPolicy implements DrivenPolicy {
  now: DrivenPolicy;
  /** That of the policy which takes over: what it asks for in vain is noted. */
  readonly definition: AnyPolicyDefinition | undefined;

  constructor(now: DrivenPolicy, next: Scheduler | undefined) {
    this.now = now;
    this.definition = next?.create({ validate: false }).definition;
  }

  get id(): string {
    return this.now.id;
  }

  takes(type: string): boolean {
    return this.now.takes?.(type) ?? true;
  }

  send(event: Parameters<DrivenPolicy['send']>[0]) {
    return this.now.send(event);
  }
}

const restored = (definition: AnyPolicyDefinition, snapshot: Snapshot): DrivenPolicy =>
  create(definition, { snapshot }, { validate: false }) as unknown as DrivenPolicy;

/** Prompts of a source without an end. */
const endless = Number.MAX_SAFE_INTEGER;

export class ForkedHost extends ColocatedHost {
  readonly #fork: Fork;
  readonly #exchanged: ExchangedPolicy;
  readonly #inference: LoggedInference;
  readonly #source: PromptSource;
  readonly #roundIds = new Set<string>();
  #weightVersion: number | undefined;
  /** Rounds whose requests had all ended before the event. */
  drainedRounds = 0;

  /** @param trained - number of prompts to train in total, including those in the log */
  constructor(job: Job, fork: Fork, workload: Workload, trained: number, seed: number) {
    const { logged, definition, engineIds } = fork;
    const pool = new EnginePool(engineIds.length === 0 ? job.engines : engineIds.length, job.cost, false);
    if (engineIds.length > 0)
      pool.configure(
        engineIds.map((engineId, row) => ({ engineId, rows: [row] })),
        job.cost,
      );
    const prompts = logged.isExhausted ? logged.supplied.length : endless;
    const source = new PromptSource(workload, prompts, undefined, keepsTokens(logged.snapshot));
    const inference = new LoggedInference(pool, source);
    const exchanged = new ExchangedPolicy(restored(definition, logged.snapshot), fork.scheduler);
    const scheduler: Scheduler = {
      id: fork.scheduler?.id ?? definition.id,
      label: fork.scheduler?.label ?? definition.id,
      holdsDeferred: true,
      create: () => exchanged,
      openRound: fork.scheduler?.openRound ?? ((round) => ({ type: 'round.requested', ...round })),
    };
    const joining = pool.engineIds.map((engineId) => ({ type: 'engine.added', at: 0, engineId }));
    const cluster = { pool, inference, machines: [inference], source, joining };
    super(job, scheduler, cluster, { prompts, until: trained, seed, timeline: false });
    this.#fork = fork;
    this.#exchanged = exchanged;
    this.#inference = inference;
    this.#source = source;
  }

  override run(): RunResult {
    const last = this.#play();
    this.#exchange();
    if (last !== undefined && last.drainedAt !== undefined) this.finish(last, last.openedSeconds);
    this.drainedRounds = this.step;
    // The log has everything that was requested, so requests in flight do not matter any more.
    if (this.isDone) return this.goOn();
    const { logged, usualPace, engineIds } = this.#fork;
    this.#inference.goLive(this.loop.now, logged.requests, usualPace);
    if (last === undefined && engineIds.length === 0) this.join();
    if (last !== undefined && last.drainedAt === undefined) {
      this.link.report();
      this.rollOutRest(last);
      this.finish(last, last.openedSeconds);
    }
    this.#handOver();
    return this.goOn();
  }

  /** Plays the log up to the event, and returns the last round, which is not trained yet. */
  #play(): RoundRecord | undefined {
    let last: RoundRecord | undefined;
    for (const { seq, event } of this.#fork.logged.events) {
      if (seq > this.#fork.at) break;
      this.loop.now = Math.max(this.loop.now, event.at);
      if (event.type === 'round.requested') {
        if (last !== undefined) this.finish(last, last.openedSeconds, this.loop.now);
        const { roundId, weightVersion } = event;
        this.#roundIds.add(roundId);
        this.#weightVersion = weightVersion;
        last = new RoundRecord(this.step, this.loop.now, roundId, weightVersion);
        this.begin(last);
      } else if (event.type === 'timer.fired') this.link.forgetTimer(event.timerId);
      else if (event.type === 'prompts.supplied') this.supply.supplied(event.roundId, event.prompts.length);
      else if (event.type === 'source.exhausted') this.supply.isExhausted = true;
      else if (event.type === 'source.reopened') this.supply.isExhausted = false;
      this.#inference.heard(event);
      this.link.send(event);
    }
    return last;
  }

  protected override newRecord(step: number): RoundRecord {
    this.#weightVersion = this.#weightVersion === undefined ? step : this.#weightVersion + 1;
    const id = `r${step}`;
    return new RoundRecord(step, this.loop.now, this.#roundIds.has(id) ? `what-if/${id}` : id, this.#weightVersion);
  }

  /** Changes the settings of the policy. */
  #exchange(): void {
    const { definition, settings } = this.#fork;
    const before = (this.#exchanged.now as unknown as { snapshot(): Snapshot }).snapshot();
    const snapshot = { ...before, config: { ...(before.config as object), ...settings } };
    this.#exchanged.now = restored(definition, snapshot);
    this.#source.keepsTokens = keepsTokens(snapshot);
  }

  /** Replaces the log's policy with another policy, which gets the remaining prompts. */
  #handOver(): void {
    const { scheduler } = this.#fork;
    if (scheduler === undefined) return;
    this.#exchanged.now = scheduler.create({ validate: false });
    this.#source.giveAllBack();
    this.#source.keepsTokens = scheduler.keepsTokens ?? false;
    this.supply.holdsDeferred = scheduler.holdsDeferred;
    this.join();
  }
}
