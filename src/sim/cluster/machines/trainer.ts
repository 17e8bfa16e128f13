/**
 * The trainer as a machine: data-parallel replicas that run passes and compute gradients, each in the order of its queue;
 * optimizer steps; and the publication of weights. The trainer carries out the shares of `stream-training`, which name a replica,
 * and the updates of `complete-group-pipelining`, which take all GPUs, one after the other.
 */

import { Fifo } from '../../../core/collections/fifo.ts';
import { IndexedHeap } from '../../../core/collections/heap.ts';
import type { AnyEvent } from '../../../core/machine/definition.ts';
import type { VocabularyDecision } from '../../../schemas/decisions/index.ts';
import { type CostModel, gradientSeconds, passSeconds, swapSeconds } from '../../models/cost-model.ts';
import type { Machine } from './machine.ts';

type Decision<T extends VocabularyDecision['type']> = Extract<VocabularyDecision, { type: T }>;
type Share = Pick<Decision<'train.fetch'>, 'replica' | 'fetchId' | 'groups' | 'samples' | 'tokens'>;

/** Gradients to compute, and the event that reports them. */
interface Work {
  readonly event: Readonly<Record<string, unknown>> & { readonly type: string };
  /** Seconds of the passes before the gradients, and seconds of both. */
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

/** A stretch of the trainer's time. */
export interface Trained {
  /** Number of the replica, from 0; absent for work that all replicas do together. */
  readonly replica?: number;
  readonly activity: 'reference' | 'train' | 'sync';
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** Returns the responses and tokens of groups; prompt tokens count once per response. */
export type BatchOf = (groups: readonly string[]) => { readonly responses: number; readonly tokens: number };

/** Data-parallel replicas that share all GPUs of the trainer evenly. */
export class Trainer implements Machine {
  readonly #replicas = new Map<string, Replica>();
  readonly #busy = new IndexedHeap<Replica>((a, b) => a.endsAt - b.endsAt || a.index - b.index);
  readonly #cost: CostModel;
  readonly #batchOf: BatchOf | undefined;
  readonly #updates = new Fifo<Decision<'train.dispatch'>>();
  /** Whether gradients wait for the decision to step: no other update begins before this step. */
  #awaitsStep = false;
  /** An optimizer step, or a publication. */
  #together: (Trained & { readonly event: object }) | undefined;
  #longestPass = 0;
  /** Work completed since the last call that took it, in the order of completion. */
  readonly trained: Trained[] = [];

  /** @param batchOf - needed for updates, which name groups alone */
  constructor(replicas: readonly string[], cost: CostModel, batchOf?: BatchOf) {
    replicas.forEach((id, index) => {
      this.#replicas.set(id, { id, index, queue: [], startedAt: 0, endsAt: 0, heapIndex: -1 });
    });
    this.#cost = cost;
    this.#batchOf = batchOf;
  }

  carryOut(decision: VocabularyDecision, at: number): void {
    switch (decision.type) {
      case 'train.fetch':
        return this.#add('train.consumed', decision, at);
      case 'train.finish':
        for (const share of decision.shares) this.#add('train.finished', share, at);
        return;
      case 'train.dispatch':
        this.#updates.push(decision);
        return this.#nextUpdate(at);
      case 'optimizer.step': {
        const { roundId, updateId } = decision;
        this.#awaitsStep = false;
        const event = { type: 'optimizer.stepped', roundId, updateId };
        return this.#begin('train', this.#cost.trainBaseSeconds, event, at);
      }
      case 'weights.publish': {
        const { roundId, publicationId } = decision;
        const weightVersion = decision.weightVersion + 1;
        const event = { type: 'weights.published', roundId, publicationId, weightVersion };
        return this.#begin('sync', this.#cost.weightSyncSeconds, event, at);
      }
    }
  }

  nextAt(): number {
    return Math.min(this.#busy.peek()?.endsAt ?? Infinity, this.#together?.endSeconds ?? Infinity);
  }

  advanceTo(at: number): AnyEvent[] {
    const events: AnyEvent[] = [];
    for (let next = this.#busy.peek(); next !== undefined && next.endsAt <= at; next = this.#busy.peek()) {
      const { event, passSeconds: passes } = next.queue.shift()!;
      const { index: replica, startedAt, endsAt } = next;
      this.#record({ replica, activity: 'reference', startSeconds: startedAt, endSeconds: startedAt + passes });
      this.#record({ replica, activity: 'train', startSeconds: startedAt + passes, endSeconds: endsAt });
      if (event.type === 'train.finished') this.#longestPass = Math.max(this.#longestPass, passes);
      events.push({ ...event, at: endsAt });
      this.#run(next, endsAt);
    }
    if (this.#together !== undefined && this.#together.endSeconds <= at) {
      const { event, ...stretch } = this.#together;
      this.#together = undefined;
      this.#record(stretch);
      events.push({ ...event, at: stretch.endSeconds } as AnyEvent);
      this.#nextUpdate(stretch.endSeconds);
    }
    return events;
  }

  /**
   * Returns the seconds of passes that remain for the end of the round, on the replica with most of them; resets these seconds to
   * 0.
   */
  takePassSeconds(): number {
    const seconds = this.#longestPass;
    this.#longestPass = 0;
    return seconds;
  }

  #record(stretch: Trained): void {
    if (stretch.endSeconds > stretch.startSeconds) this.trained.push(stretch);
  }

  #add(type: 'train.consumed' | 'train.finished', share: Share, at: number): void {
    const { replica: id, fetchId, groups, samples, tokens } = share;
    const replica = this.#replicas.get(id)!;
    // Each replica has an equal share of the GPUs, and weights are swapped on each of them alike.
    const count = this.#replicas.size;
    const batch = { responses: samples, tokens };
    const swaps = tokens === 0 ? 0 : swapSeconds(this.#cost);
    const passes = (passSeconds(this.#cost, batch) - swaps) * count + swaps;
    const seconds = passes + gradientSeconds(this.#cost, batch) * count;
    const event = { type, fetchId, groups: [...groups], samples, tokens, seconds, replica: id };
    replica.queue.push({ event, passSeconds: passes, seconds });
    if (replica.queue.length === 1) this.#run(replica, at);
  }

  /** Begins the next update if none is running. */
  #nextUpdate(at: number): void {
    const [all] = this.#replicas.values();
    if (this.#awaitsStep || this.#together !== undefined) return;
    const dispatch = this.#updates.shift();
    if (dispatch === undefined) return;
    const { updateId } = dispatch;
    const groups = [...dispatch.groups];
    const seconds = gradientSeconds(this.#cost, this.#batchOf!(groups));
    this.#awaitsStep = true;
    all!.queue.push({ event: { type: 'update.consumed', updateId, groups, seconds }, passSeconds: 0, seconds });
    this.#run(all!, at);
  }

  #run(replica: Replica, at: number): void {
    const work = replica.queue[0];
    if (work === undefined) {
      this.#busy.remove(replica);
      return;
    }
    replica.startedAt = at;
    replica.endsAt = at + work.seconds;
    this.#busy.update(replica);
  }

  #begin(activity: 'train' | 'sync', seconds: number, event: object, at: number): void {
    this.#together = { activity, startSeconds: at, endSeconds: at + seconds, event };
  }
}
