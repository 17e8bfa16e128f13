/** The trainer as a machine: replicas that compute gradients of groups, and an optimizer step at the end of a round. */
import type { AnyEvent } from '../../core/definition.ts';
import { IndexedHeap } from '../../core/heap.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { CostModel } from '../cost-model.ts';
import type { Machine } from './machine.ts';

type Decision<T extends VocabularyDecision['type']> = Extract<VocabularyDecision, { type: T }>;

interface Work {
  readonly type: 'train.consumed' | 'train.finished';
  readonly fetchId: string;
  readonly groups: readonly string[];
  readonly samples: number;
  readonly tokens: number;
  seconds: number;
}

interface Replica {
  readonly id: string;
  readonly index: number;
  readonly queue: Work[];
  startedAt: number;
  endsAt: number;
  heapIndex: number;
}

/** A stretch in which a replica computed gradients. */
export interface Trained {
  readonly replica: number;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** Data-parallel replicas that share all GPUs evenly. */
export class Trainer implements Machine {
  readonly #replicas = new Map<string, Replica>();
  readonly #busy = new IndexedHeap<Replica>((a, b) => a.endsAt - b.endsAt || a.index - b.index);
  readonly #cost: CostModel;
  readonly #secondsPerToken: number;
  #stepping: { readonly roundId: string; readonly endsAt: number } | undefined;
  /** What was computed since this was last taken, in the order in which it ended. */
  readonly trained: Trained[] = [];

  constructor(replicas: readonly string[], cost: CostModel) {
    replicas.forEach((id, index) => {
      this.#replicas.set(id, { id, index, queue: [], startedAt: 0, endsAt: 0, heapIndex: -1 });
    });
    this.#cost = cost;
    this.#secondsPerToken = cost.trainSecondsPerToken * replicas.length;
  }

  carryOut(decision: VocabularyDecision, at: number): void {
    switch (decision.type) {
      case 'train.fetch':
        return this.#add(decision.replica, this.#work('train.consumed', decision), at);
      case 'train.finish':
        for (const share of decision.shares) this.#add(share.replica, this.#work('train.finished', share), at);
        return;
      case 'optimizer.step':
        this.#stepping = { roundId: decision.roundId, endsAt: at + this.#cost.trainBaseSeconds };
    }
  }

  nextAt(): number {
    return Math.min(this.#busy.peek()?.endsAt ?? Infinity, this.#stepping?.endsAt ?? Infinity);
  }

  advanceTo(at: number): AnyEvent[] {
    const events: AnyEvent[] = [];
    for (let next = this.#busy.peek(); next !== undefined && next.endsAt <= at; next = this.#busy.peek()) {
      const { seconds, ...work } = next.queue.shift()!;
      this.trained.push({ replica: next.index, startSeconds: next.startedAt, endSeconds: next.endsAt });
      events.push({ ...work, at: next.endsAt, replica: next.id, seconds } as AnyEvent);
      this.#begin(next, next.endsAt);
    }
    if (this.#stepping !== undefined && this.#stepping.endsAt <= at) {
      const { roundId, endsAt } = this.#stepping;
      this.#stepping = undefined;
      events.push({ type: 'optimizer.stepped', at: endsAt, roundId } as AnyEvent);
    }
    return events;
  }

  #work(
    type: Work['type'],
    { fetchId, groups, samples, tokens }: Pick<Decision<'train.fetch'>, 'fetchId' | 'groups' | 'samples' | 'tokens'>,
  ): Work {
    return { type, fetchId, groups: [...groups], samples, tokens, seconds: tokens * this.#secondsPerToken };
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
