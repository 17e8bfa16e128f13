/**
 * A trainer for stream-training, simpler than any real one: gradients are numbers, and every command is carried out to
 * the letter, so that a wrong factor, a group that is trained twice or one that is missing shows in the sums.
 */
import { expect } from 'vitest';
import type { StreamTrainingConfig, StreamTrainingDecision } from '../../../src/policies/stream-training/index.ts';
import { sum } from '../basics/numbers.ts';

export interface HostGroup {
  readonly roundId: string;
  readonly groupId: string;
  /** Of each sample: the tokens that the loss counts, and the gradient of one token. */
  readonly samples: readonly { readonly tokens: number; readonly gradient: number }[];
}

interface HostWork {
  readonly fetchId: string;
  readonly kind: 'fetch' | 'share';
  readonly groups: readonly string[];
}

class HostReplica {
  present = true;
  works: HostWork[] = [];
  groups: HostGroup[] = [];
  weights: 'actor' | 'reference' = 'actor';
  offloaded = false;
  referenced = new Set<string>();
  scaled: number | undefined;
}

export class TrainingHost {
  readonly config: StreamTrainingConfig;
  readonly replicas: ReadonlyMap<string, HostReplica>;
  readonly released = new Set<string>();
  readonly groups = new Map<string, HostGroup>();
  readonly completed = new Set<string>();
  readonly trained = new Map<string, readonly string[]>();
  stepping: { readonly roundId: string; readonly updateId: string } | undefined;
  /** Every try to step, and those that were reported before they were given up. */
  readonly steps: { readonly roundId: string; readonly updateId: string }[] = [];
  readonly confirmed = new Set<string>();
  members: readonly string[] = [];
  fetches = 0;

  constructor(config: StreamTrainingConfig) {
    this.config = config;
    this.replicas = new Map(config.replicas.map(({ id }) => [id, new HostReplica()]));
  }

  /** Gradient and units of groups, summed. */
  total(groups: readonly HostGroup[]): { gradient: number; units: number; tokens: number; samples: number } {
    const samples = groups.flatMap((one) => one.samples);
    const tokens = sum(samples.map((one) => one.tokens));
    const { unit } = this.config;
    // With one loss for each sample, or each group, its gradient does not grow with its tokens.
    if (unit === 'tokens' || unit === 'constant') {
      const gradient = sum(samples.map((one) => one.tokens * one.gradient));
      return { gradient, units: tokens, tokens, samples: samples.length };
    }
    if (unit === 'samples') {
      return {
        gradient: sum(samples.map((one) => one.gradient)),
        units: samples.length,
        tokens,
        samples: samples.length,
      };
    }
    const gradient = sum(groups.map((one) => one.samples[0]!.gradient));
    return { gradient, units: groups.length, tokens, samples: samples.length };
  }

  /** The event of finished work; the host holds its gradients from now on. */
  finish(replica: string, work: HostWork, left: number): { event: Record<string, unknown> } {
    const one = this.replicas.get(replica)!;
    one.works.splice(one.works.indexOf(work), 1);
    const done = work.groups.filter((_, index) => work.groups.length === 1 || index !== left);
    const groups = done.map((id) => this.groups.get(id)!);
    one.groups.push(...groups);
    if (groups.length > 0) expect(one.offloaded).toBe(false); // invariant 8
    const { tokens, samples } = this.total(groups);
    const type = work.kind === 'fetch' ? 'train.consumed' : 'train.finished';
    const ids = groups.map((group) => group.groupId);
    return { event: { type, fetchId: work.fetchId, replica, groups: ids, samples, tokens } };
  }

  lose(replica: string): void {
    const one = this.replicas.get(replica)!;
    Object.assign(one, new HostReplica(), { present: false });
    // The collective breaks when one of its members goes.
    if (this.members.includes(replica)) this.stepping = undefined;
  }

  restart(): void {
    for (const one of this.replicas.values()) Object.assign(one, new HostReplica(), { present: one.present });
    this.stepping = undefined;
  }

  told(decisions: readonly StreamTrainingDecision[]): void {
    for (const decision of decisions) this.#carryOut(decision);
  }

  #carryOut(decision: StreamTrainingDecision): void {
    const one = 'replica' in decision ? this.replicas.get(decision.replica)! : undefined;
    switch (decision.type) {
      case 'weights.swap':
        expect(one!.weights).not.toBe(decision.to); // invariant 8
        one!.weights = decision.to;
        return;
      case 'reference.compute':
        expect(one!.weights).toBe('reference'); // invariant 8
        one!.referenced.add(decision.fetchId);
        return;
      case 'train.fetch': {
        const { replica, fetchId, groups, gradientSync, optimizerLoaded, roundId } = decision;
        const { gpuIds } = this.config.replicas.find(({ id }) => id === replica)!;
        expect(gpuIds.every((gpu) => this.released.has(`${roundId} ${gpu}`))).toBe(true); // invariant 5
        expect([gradientSync, optimizerLoaded, this.completed.has(roundId)]).toEqual([false, false, false]); // 3, 5
        this.fetches += 1;
        return this.#start(replica, { fetchId, kind: 'fetch', groups: groups.map((id) => `${roundId} ${id}`) });
      }
      case 'train.finish':
        expect(this.completed.has(decision.roundId)).toBe(true); // invariant 3
        expect(sum(decision.shares.map((share) => share.groups.length))).toBe(decision.remaining);
        for (const { fetchId, replica, groups } of decision.shares) {
          this.#start(replica, { fetchId, kind: 'share', groups: groups.map((id) => `${decision.roundId} ${id}`) });
        }
        return;
      case 'gradients.offload':
        expect([one!.offloaded, one!.works.length]).toEqual([false, 0]);
        one!.offloaded = true;
        return;
      case 'gradients.reload':
        expect(one!.offloaded).toBe(true);
        one!.offloaded = false;
        return;
      case 'gradients.discard':
        Object.assign(one!, new HostReplica());
        return;
      case 'gradient.scale': {
        expect([one!.offloaded, one!.works.length]).toEqual([false, 0]); // invariant 8
        const { gradient, units } = this.total(one!.groups);
        const local = this.config.reduction === 'sum' || units === 0 ? gradient : gradient / units;
        one!.scaled = decision.factor * local;
        return;
      }
      case 'optimizer.step':
        return this.#step(decision);
      case 'round.trained': {
        const { roundId, groups, reason } = decision;
        if (reason.code === 'stepped') {
          expect(this.stepping?.roundId).toBe(roundId);
          this.confirmed.add(this.stepping!.updateId);
        }
        const held = [...this.replicas.values()].flatMap((replica) => replica.groups.map((group) => group.groupId));
        expect([...held].sort()).toEqual([...groups].sort()); // invariant 2
        expect(this.trained.has(roundId)).toBe(false);
        this.trained.set(roundId, groups);
        for (const replica of this.replicas.values())
          Object.assign(replica, new HostReplica(), { present: replica.present });
        this.stepping = undefined;
        this.members = [];
      }
    }
  }

  #start(replica: string, work: HostWork): void {
    const one = this.replicas.get(replica)!;
    expect([one.present, one.weights]).toEqual([true, 'actor']); // invariants 5, 8
    if (this.config.reference === 'swap' && work.groups.length > 0) expect(one.referenced.has(work.fetchId)).toBe(true);
    one.works.push(work);
  }

  /** Invariants 2, 3 and 4, by the numbers. */
  #step({
    roundId,
    updateId,
    replicas = [],
    tokens,
    samples,
  }: Extract<StreamTrainingDecision, { type: 'optimizer.step' }>): void {
    expect([this.completed.has(roundId), this.stepping]).toEqual([true, undefined]); // invariant 3
    expect(this.steps.map((one) => one.updateId)).not.toContain(updateId); // invariant 9
    this.stepping = { roundId, updateId };
    this.steps.push(this.stepping);
    this.members = replicas;
    const members = replicas.map((id) => this.replicas.get(id)!);
    const whole = this.total(members.flatMap((one) => one.groups));
    expect([tokens, samples]).toEqual([whole.tokens, whole.samples]);
    for (const [id, one] of this.replicas) if (!replicas.includes(id)) expect(one.groups).toEqual([]); // invariant 2
    const combined = sum(members.map((one) => one.scaled!)) / (this.config.collective === 'mean' ? replicas.length : 1);
    const divisor = this.config.divisor ?? whole.units;
    const monolithic = divisor === 0 ? 0 : whole.gradient / divisor;
    expect(Math.abs(combined - monolithic)).toBeLessThanOrEqual(1e-12 * (1 + Math.abs(monolithic))); // invariant 4
  }
}
