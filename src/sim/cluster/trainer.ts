/**
 * The trainer as a machine: replicas that run the passes before training and compute gradients, group by group, and an
 * optimizer step at the end of a round.
 */
import type { AnyEvent } from '../../core/definition.ts';
import { IndexedHeap } from '../../core/heap.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import { type CostModel, gradientSeconds, passSeconds, swapSeconds } from '../cost-model.ts';
import type { Machine } from './machine.ts';

type Decision<T extends VocabularyDecision['type']> = Extract<VocabularyDecision, { type: T }>;

interface Work {
  readonly type: 'train.consumed' | 'train.finished';
  readonly fetchId: string;
  readonly groups: readonly string[];
  readonly samples: number;
  readonly tokens: number;
  /** The passes before the gradients, and both together. */
  readonly passSeconds: number;
  readonly seconds: number;
}

interface Replica {
  readonly id: string;
  readonly index: number;
  readonly queue: Work[];
  startedAt: number;
  endsAt: number;
  heapIndex: number;
}

/** A stretch in which a replica ran the passes before training, or computed gradients. */
export interface Trained {
  readonly replica: number;
  readonly activity: 'reference' | 'train';
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** Data-parallel replicas that share all GPUs evenly. */
export class Trainer implements Machine {
  readonly #replicas = new Map<string, Replica>();
  readonly #busy = new IndexedHeap<Replica>((a, b) => a.endsAt - b.endsAt || a.index - b.index);
  readonly #cost: CostModel;
  readonly #count: number;
  #longestPass = 0;
  #stepping: { readonly roundId: string; readonly updateId: string; readonly endsAt: number } | undefined;
  /** Work that was completed since this was last taken, in the order in which it ended. */
  readonly trained: Trained[] = [];

  constructor(replicas: readonly string[], cost: CostModel) {
    replicas.forEach((id, index) => {
      this.#replicas.set(id, { id, index, queue: [], startedAt: 0, endsAt: 0, heapIndex: -1 });
    });
    this.#cost = cost;
    this.#count = replicas.length;
  }

  carryOut(decision: VocabularyDecision, at: number): void {
    switch (decision.type) {
      case 'train.fetch':
        return this.#add(decision.replica, this.#work('train.consumed', decision), at);
      case 'train.finish':
        for (const share of decision.shares) this.#add(share.replica, this.#work('train.finished', share), at);
        return;
      case 'optimizer.step': {
        const { roundId, updateId } = decision;
        this.#stepping = { roundId, updateId, endsAt: at + this.#cost.trainBaseSeconds };
      }
    }
  }

  nextAt(): number {
    return Math.min(this.#busy.peek()?.endsAt ?? Infinity, this.#stepping?.endsAt ?? Infinity);
  }

  advanceTo(at: number): AnyEvent[] {
    const events: AnyEvent[] = [];
    for (let next = this.#busy.peek(); next !== undefined && next.endsAt <= at; next = this.#busy.peek()) {
      const { passSeconds: passes, ...work } = next.queue.shift()!;
      const { index: replica, startedAt: startSeconds, endsAt: endSeconds } = next;
      const between = startSeconds + passes;
      if (passes > 0) this.trained.push({ replica, activity: 'reference', startSeconds, endSeconds: between });
      this.trained.push({ replica, activity: 'train', startSeconds: between, endSeconds });
      if (work.type === 'train.finished') this.#longestPass = Math.max(this.#longestPass, passes);
      events.push({ ...work, at: endSeconds, replica: next.id } as AnyEvent);
      this.#begin(next, next.endsAt);
    }
    if (this.#stepping !== undefined && this.#stepping.endsAt <= at) {
      const { endsAt, ...step } = this.#stepping;
      this.#stepping = undefined;
      events.push({ type: 'optimizer.stepped', at: endsAt, ...step } as AnyEvent);
    }
    return events;
  }

  /** Returns the seconds of the passes left for the end of the round, on the replica with most of them; 0 from then on. */
  takePassSeconds(): number {
    const seconds = this.#longestPass;
    this.#longestPass = 0;
    return seconds;
  }

  #work(
    type: Work['type'],
    { fetchId, groups, samples, tokens }: Pick<Decision<'train.fetch'>, 'fetchId' | 'groups' | 'samples' | 'tokens'>,
  ): Work {
    // One of the replicas has its share of the GPUs; weights are swapped on each of them alike.
    const batch = { responses: samples, tokens };
    const swaps = tokens === 0 ? 0 : swapSeconds(this.#cost);
    const passes = (passSeconds(this.#cost, batch) - swaps) * this.#count + swaps;
    const seconds = passes + gradientSeconds(this.#cost, batch) * this.#count;
    return { type, fetchId, groups: [...groups], samples, tokens, passSeconds: passes, seconds };
  }

  #add(replicaId: string, work: Work, at: number): void {
    const replica = this.#replicas.get(replicaId)!;
    replica.queue.push(work);
    if (replica.queue.length === 1) this.#begin(replica, at);
  }

  #begin(replica: Replica, at: number): void {
    const work = replica.queue[0];
    if (work === undefined) {
      this.#busy.remove(replica);
      return;
    }
    replica.startedAt = at;
    replica.endsAt = at + work.seconds;
    this.#busy.update(replica);
  }
}
