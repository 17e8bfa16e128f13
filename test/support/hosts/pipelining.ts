/**
 * A host with a trainer, for complete-group-pipelining: it knows what it was told, and holds every decision against
 * that. The numbers are those of the invariants in the policy's README.
 */
import { expect } from 'vitest';
import { grpoAdvantages, runPlanner } from '../../../src/index.ts';
import type {
  CompleteGroupPipeliningConfig,
  CompleteGroupPipeliningDecision,
  CompleteGroupPipeliningEvent,
} from '../../../src/policies/complete-group-pipelining/index.ts';

type Decision<T extends CompleteGroupPipeliningDecision['type']> = Extract<
  CompleteGroupPipeliningDecision,
  { type: T }
>;
type Dispatch = Decision<'train.dispatch'>;
export type Rewarded = Extract<CompleteGroupPipeliningEvent, { type: 'group.rewarded' }>;

/** A round as the host sees it. */
export interface HostRound {
  readonly roundId: string;
  readonly weightVersion: number;
  readonly openedAt: number;
  /** Every group that was reported, with its event. */
  readonly reported: Map<string, Rewarded>;
  readonly trainable: string[];
  readonly dropped: string[];
  /** Groups of every update that was ever dispatched, by its index. */
  readonly contents: string[][];
  /** Updates that are in the weights of the trainer. */
  inWeights: number;
  closedAt?: number;
  isFailed: boolean;
  isPublishing: boolean;
  /** The command to publish that the host has. */
  publicationId: string | undefined;
  publications: number;
  firstBatchAt?: number;
  firstDispatchAt?: number;
  lastStepAt?: number;
  wait: number;
  pendingWait: number;
  compute: number;
  dispatches: number;
}

export class PipeliningHost {
  readonly config: CompleteGroupPipeliningConfig;
  readonly u: number;
  readonly open: HostRound[] = [];
  readonly over = new Map<string, readonly string[]>();
  /** What the trainer has to do, by update id. */
  readonly live = new Map<string, Dispatch>();
  readonly consumed = new Map<string, Set<string>>();
  stepping: string | undefined;
  /** Updates whose step was given up. */
  readonly withdrawn: string[] = [];
  version = 0;
  #at = 0;

  constructor(config: CompleteGroupPipeliningConfig) {
    this.config = config;
    this.u = config.globalBatchSamples / config.responsesPerPrompt;
  }

  get head(): HostRound | undefined {
    return this.open[0];
  }

  /** The update that the trainer is at. */
  get current(): Dispatch | undefined {
    return [...this.live.values()].find((one) => one.update === this.head!.inWeights);
  }

  round(roundId: string): HostRound | undefined {
    return this.open.find((one) => one.roundId === roundId);
  }

  /** An event that was taken. */
  sent(event: CompleteGroupPipeliningEvent): void {
    const { head } = this;
    const at = Math.max(this.#at, event.at);
    if (head !== undefined && this.live.size === 0) head.pendingWait += at - this.#at;
    this.#at = at;
    switch (event.type) {
      case 'round.opened':
        this.version = event.weightVersion;
        this.open.push({
          roundId: event.roundId,
          weightVersion: event.weightVersion,
          openedAt: at,
          reported: new Map(),
          trainable: [],
          dropped: [],
          contents: [],
          inWeights: 0,
          isFailed: false,
          isPublishing: false,
          publicationId: undefined,
          publications: 0,
          wait: 0,
          pendingWait: 0,
          compute: 0,
          dispatches: 0,
        });
        return;
      case 'group.rewarded': {
        const round = this.round(event.roundId);
        if (round === undefined || round.closedAt !== undefined || round.reported.has(event.promptId)) return;
        round.reported.set(event.promptId, event);
        return;
      }
      case 'round.rewarded': {
        const round = this.round(event.roundId);
        if (round === undefined || round.closedAt !== undefined) return;
        if (event.reason.code === 'round_failed') return this.#fail(round);
        round.closedAt = at;
        if (round.trainable.length > 0) round.firstBatchAt ??= at;
        return;
      }
      case 'round.failed': {
        const round = this.round(event.roundId);
        if (round !== undefined && !round.isFailed && !round.isPublishing) this.#fail(round);
        return;
      }
      case 'update.consumed': {
        const done = this.consumed.get(event.updateId);
        if (done === undefined || done.has(event.groups[0]!)) return;
        for (const id of event.groups) done.add(id);
        head!.compute += event.seconds;
        return;
      }
      case 'optimizer.stepped':
        if (this.live.has(event.updateId)) this.#stepped(event.updateId);
        return;
      case 'update.lost':
        this.#drop(event.updateId);
        return;
      case 'trainer.restarted':
        if (head?.roundId !== event.roundId) return;
        if (event.updates > head.inWeights) this.#stepped(this.stepping!);
        head.inWeights = event.updates;
        // Of a round that has failed no update comes again: what is left of it is published.
        if ((event.updates < head.contents.length && !head.isFailed) || event.updates === 0) head.isPublishing = false;
        return this.#forgetAll();
      case 'host.restarted':
        return this.#forgetAll();
      default:
    }
  }

  #fail(round: HostRound): void {
    round.isFailed = true;
    round.closedAt ??= this.#at;
  }

  #drop(id: string): void {
    this.live.delete(id);
    this.consumed.delete(id);
    if (this.stepping !== id) return;
    this.stepping = undefined;
    this.withdrawn.push(id);
  }

  #forgetAll(): void {
    for (const id of [...this.live.keys()]) this.#drop(id);
    if (this.head !== undefined) this.head.publicationId = undefined;
  }

  #stepped(id: string): void {
    this.stepping = undefined;
    this.#drop(id);
    this.head!.inWeights += 1;
    this.head!.lastStepAt = this.#at;
  }

  told(decision: CompleteGroupPipeliningDecision): void {
    // A round that ended without a word is over when the next one is spoken of.
    if ('roundId' in decision && decision.roundId !== this.head?.roundId && decision.type !== 'groups.dropped')
      this.settle();
    switch (decision.type) {
      case 'group.trainable':
        return this.#trainable(decision);
      case 'groups.dropped': {
        const round = this.round(decision.roundId)!;
        for (const id of decision.groups) {
          expect(round.reported.has(id)).toBe(true);
          expect(round.dropped).not.toContain(id); // invariant 1
          round.dropped.push(id);
        }
        if (decision.reason.code === 'round_failed') expect(round.isFailed).toBe(true);
        return;
      }
      case 'train.dispatch':
        return this.#dispatched(decision);
      case 'update.cancel':
        for (const id of decision.updateIds) {
          expect(this.live.has(id)).toBe(true);
          this.#drop(id);
        }
        return;
      case 'optimizer.step': {
        const update = this.live.get(decision.updateId)!;
        expect(update).toBe(this.current); // invariant 4: in order, one after the other
        expect(this.stepping).toBeUndefined();
        expect([...this.consumed.get(decision.updateId)!].sort()).toEqual([...update.groups].sort());
        expect([decision.samples, decision.tokens]).toEqual([update.samples, update.tokens]);
        expect(decision.groups).toEqual(update.groups);
        this.stepping = decision.updateId;
        return;
      }
      case 'weights.publish':
        return this.#publish(decision);
      case 'round.trained':
        return this.#trained(decision);
      case 'pipeline.measured':
        return this.#measured(decision);
      default:
    }
  }

  /** After all decisions of an event: a round that failed with nothing in the weights is over without a word. */
  settle(): void {
    for (const round of [...this.open]) {
      const isWorked = round === this.head && (round.inWeights > 0 || this.live.size > 0);
      if (!round.isFailed || isWorked) continue;
      expect([...round.dropped].sort()).toEqual([...round.reported.keys()].sort()); // invariant 1
      this.#end(round, []);
    }
  }

  #end(round: HostRound, groups: readonly string[]): void {
    expect(this.over.has(round.roundId)).toBe(false);
    this.over.set(round.roundId, groups);
    this.open.splice(this.open.indexOf(round), 1);
    this.#last = round;
  }

  #last: HostRound | undefined;

  #trainable(decision: Decision<'group.trainable'>): void {
    const round = this.round(decision.roundId)!;
    const { responses, samples, tokens, promptTokens = 0 } = round.reported.get(decision.groupId)!;
    expect(decision.order).toBe(round.trainable.length);
    round.trainable.push(decision.groupId);
    if (round.trainable.length === this.u) round.firstBatchAt = this.#at;
    // Invariant 2: complete; invariant 5: of the weights of its round.
    if (this.config.incompleteGroups === 'drop') expect(samples).toBe(this.config.responsesPerPrompt);
    for (const { weightVersions = [round.weightVersion] } of responses)
      expect(weightVersions).toEqual([round.weightVersion]);
    expect([decision.samples, decision.tokens]).toEqual([samples, tokens + samples * promptTokens]);
    const { baseline, normalization, std, epsilon, varianceTolerance, singleResponse } = this.config;
    const settings = { baseline, normalization, std, epsilon, varianceTolerance, singleResponse };
    const [plan] = runPlanner(grpoAdvantages, {
      groups: [{ rewards: responses.map((one) => one.reward) }],
      ...settings,
    }).groups;
    expect([decision.mean, decision.std]).toEqual([plan!.mean, plan!.std]); // invariant 9
    expect(decision.requestIds).toEqual(responses.map((one) => one.requestId));
    expect(decision.advantages).toEqual(plan!.advantages);
    if (this.config.filter === 'zero-variance') expect(plan!.zeroVariance).toBe(false);
  }

  #dispatched(decision: Dispatch): void {
    const { roundId, updateId, update, groups, reason, samples, tokens, microBatches } = decision;
    const round = this.round(roundId)!;
    expect(round).toBe(this.head); // invariant 4: nothing of a later round
    expect(round.isPublishing).toBe(false);
    if (!this.config.pipelining) expect(round.closedAt).toBeDefined();
    expect(this.live.has(updateId)).toBe(false);
    if (update === round.contents.length) {
      const from = round.contents.flat().length;
      expect(groups).toEqual(round.trainable.slice(from, from + groups.length)); // invariant 2
      if (reason.code === 'batch_ready') expect(groups).toHaveLength(this.u);
      else {
        expect(reason.code).toBe('round_end');
        expect(round.closedAt).toBeDefined();
        expect(groups.length).toBeLessThan(this.u); // invariant 3
        expect(from + groups.length).toBe(round.trainable.length);
      }
      round.contents.push(groups);
      round.firstDispatchAt ??= this.#at;
    } else {
      expect(['update_lost', 'trainer_restarted', 'host_restarted']).toContain(reason.code);
      expect([...this.live.values()].some((one) => one.update === update)).toBe(false); // invariant 2: once
      expect(update).toBeGreaterThanOrEqual(round.inWeights);
      expect(groups).toEqual(round.contents[update]);
    }
    round.wait += round.pendingWait;
    round.pendingWait = 0;
    round.dispatches += 1;
    expect(decision.weightVersion).toBe(round.weightVersion); // invariant 5
    const events = groups.map((id) => round.reported.get(id)!);
    const tokensOf = (one: Rewarded): number => one.tokens + one.samples * (one.promptTokens ?? 0);
    expect(samples).toBe(events.reduce((sum, one) => sum + one.samples, 0)); // invariant 3
    expect(tokens).toBe(events.reduce((sum, one) => sum + tokensOf(one), 0));
    // Invariant 8.
    expect(microBatches.flatMap((one) => one.groups)).toEqual(groups);
    const budget = this.config.maxTokensPerGpu ?? Number.POSITIVE_INFINITY;
    microBatches.forEach((batch, index) => {
      const own = batch.groups.map((id) => tokensOf(round.reported.get(id)!));
      expect(batch.tokens).toBe(own.reduce((sum, one) => sum + one, 0));
      expect(batch.dynamic).toBe(batch.tokens > budget);
      if (batch.dynamic) expect(batch.groups).toHaveLength(1);
      const next = microBatches[index + 1]?.groups[0];
      if (next !== undefined) expect(batch.tokens + tokensOf(round.reported.get(next)!)).toBeGreaterThan(budget);
    });
    this.live.set(updateId, decision);
    this.consumed.set(updateId, new Set());
  }

  /** Invariants 3 and 4. */
  #publish({ roundId, publicationId, weightVersion, reason }: Decision<'weights.publish'>): void {
    const round = this.round(roundId)!;
    expect(round).toBe(this.head);
    expect([this.live.size, this.stepping]).toEqual([0, undefined]);
    expect(round.closedAt).toBeDefined();
    expect(weightVersion).toBe(round.weightVersion);
    expect(reason.updates).toBe(round.inWeights);
    expect(round.inWeights).toBeGreaterThan(0);
    if (!round.isFailed) expect(round.inWeights).toBe(Math.ceil(round.trainable.length / this.u));
    if (reason.code === 'all_consumed' || reason.code === 'round_failed') {
      expect(reason.code).toBe(round.isFailed ? 'round_failed' : 'all_consumed');
      expect(round.isPublishing).toBe(false);
    } else expect(round.isPublishing).toBe(true);
    round.isPublishing = true;
    round.publicationId = publicationId;
    round.publications += 1;
  }

  #trained({ roundId, groups, reason }: Decision<'round.trained'>): void {
    const round = this.round(roundId)!;
    expect(round).toBe(this.head);
    if (reason.code === 'nothing_to_train') {
      expect([round.trainable, round.publications]).toEqual([[], 0]);
    } else {
      expect(round.isPublishing).toBe(true);
      expect(groups).toEqual(round.contents.slice(0, round.inWeights).flat());
      if (!round.isFailed) expect(groups).toEqual(round.trainable);
    }
    expect([...groups, ...round.dropped].sort()).toEqual([...round.reported.keys()].sort()); // invariant 1
    this.#end(round, groups);
  }

  /** Invariant 10. */
  #measured(decision: Decision<'pipeline.measured'>): void {
    const round = this.#last!;
    expect(decision.roundId).toBe(round.roundId);
    const start = round.openedAt;
    const end = round.lastStepAt! - start;
    const ratio = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
    expect(decision.rolloutSeconds).toBeCloseTo(round.closedAt! - start, 9);
    expect(decision.firstBatchSeconds).toBeCloseTo(round.firstBatchAt! - start, 9);
    expect(decision.firstDispatchSeconds).toBeCloseTo(round.firstDispatchAt! - start, 9);
    expect(decision.recoverySeconds).toBeCloseTo(round.closedAt! - round.firstBatchAt!, 9);
    expect(decision.trainEndSeconds).toBeCloseTo(end, 9);
    expect(decision.waitSeconds).toBeCloseTo(round.wait, 9);
    expect(decision.computeSeconds).toBeCloseTo(round.compute, 9);
    expect(decision.startWaitingRatio).toBeCloseTo(ratio(round.firstDispatchAt! - start, end), 9);
    expect(decision.computeWaitingRatio).toBeCloseTo(ratio(round.wait, round.wait + round.compute), 9);
    expect(decision.wallClockWaitingRatio).toBeCloseTo(ratio(round.wait, end), 9);
    expect(decision.reason).toMatchObject({
      groups: round.trainable.length,
      dropped: round.dropped.length,
      updates: round.inWeights,
      dispatches: round.dispatches,
    });
  }
}
