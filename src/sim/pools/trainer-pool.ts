/**
 * The trainer pool as a machine: updates in the order in which they were dispatched, one after the other, each with its
 * optimizer step; and the weights to the engines, when that is asked for.
 */
import type { AnyEvent } from '../../core/definition.ts';
import { Fifo } from '../../core/fifo.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { Machine } from '../cluster/machine.ts';
import { type CostModel, gradientSeconds } from '../cost-model.ts';
import type { Segment } from '../result.ts';

type Dispatch = Extract<VocabularyDecision, { type: 'train.dispatch' }>;

/** Work under way: gradients, then the optimizer step, then perhaps a publication. */
interface Work {
  readonly startedAt: number;
  readonly endsAt: number;
  readonly activity: 'train' | 'sync';
  readonly event: AnyEvent;
}

/** Samples and tokens of groups: prompts count for each of their responses. */
export type BatchOf = (groups: readonly string[]) => { readonly responses: number; readonly tokens: number };

/** One trainer over all GPUs of its pool. */
export class TrainerPool implements Machine {
  readonly #cost: CostModel;
  readonly #batchOf: BatchOf;
  readonly #queue = new Fifo<Dispatch>();
  #work: Work | undefined;
  /** Whether gradients wait for the decision to step on them: no other update begins before. */
  #awaitsStep = false;
  /** Seconds of gradients and optimizer steps. */
  busySeconds = 0;
  /** Its activities, ascending; an update is one segment, its step another. */
  readonly segments: Segment[] = [];

  constructor(cost: CostModel, batchOf: BatchOf) {
    this.#cost = cost;
    this.#batchOf = batchOf;
  }

  carryOut(decision: VocabularyDecision, at: number): void {
    switch (decision.type) {
      case 'train.dispatch':
        this.#queue.push(decision);
        return this.#next(at);
      case 'optimizer.step': {
        const { roundId, updateId } = decision;
        this.#awaitsStep = false;
        const event = { type: 'optimizer.stepped', roundId, updateId } as unknown as AnyEvent;
        return this.#begin('train', this.#cost.trainBaseSeconds, event, at);
      }
      case 'weights.publish': {
        const { roundId, publicationId } = decision;
        const weightVersion = decision.weightVersion + 1;
        const event = { type: 'weights.published', roundId, publicationId, weightVersion } as unknown as AnyEvent;
        return this.#begin('sync', this.#cost.weightSyncSeconds, event, at);
      }
    }
  }

  nextAt(): number {
    return this.#work?.endsAt ?? Number.POSITIVE_INFINITY;
  }

  advanceTo(at: number): AnyEvent[] {
    const work = this.#work;
    if (work === undefined || work.endsAt > at) return [];
    this.#work = undefined;
    const { startedAt: startSeconds, endsAt: endSeconds, activity, event } = work;
    if (endSeconds > startSeconds) this.segments.push({ startSeconds, endSeconds, activity, running: 0 });
    if (activity === 'train') this.busySeconds += endSeconds - startSeconds;
    this.#next(endSeconds);
    return [{ ...event, at: endSeconds }];
  }

  #next(at: number): void {
    if (this.#work !== undefined || this.#awaitsStep) return;
    const dispatch = this.#queue.shift();
    if (dispatch === undefined) return;
    const groups = [...dispatch.groups];
    const seconds = gradientSeconds(this.#cost, this.#batchOf(groups));
    const event = { type: 'update.consumed', updateId: dispatch.updateId, groups, seconds } as unknown as AnyEvent;
    this.#begin('train', seconds, event, at);
    this.#awaitsStep = true;
  }

  #begin(activity: Work['activity'], seconds: number, event: AnyEvent, at: number): void {
    this.#work = { startedAt: at, endsAt: at + seconds, activity, event };
  }
}
