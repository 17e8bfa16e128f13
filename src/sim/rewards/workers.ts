/** Reward workers, which receive dispatches and return rewards. */

import { IndexedHeap } from '../../core/collections/heap.ts';
import type { AnyEvent } from '../../core/machine/definition.ts';
import { type RewardKind, rewardKind, type VocabularyDecision } from '../../schemas/index.ts';
import type { Machine } from '../cluster/machines/machine.ts';
import type { RewardWork } from './model.ts';
import type { RewardSettings } from './settings.ts';

type Dispatch = Extract<VocabularyDecision, { type: 'reward.dispatch' }>;

interface Running {
  readonly decision: Dispatch;
  readonly seq: number;
  readonly work: RewardWork;
  readonly startedAt: number;
  endsAt: number;
  isCancelled: boolean;
  heapIndex: number;
}

/** Returns the work for the reward of a request. */
export type WorkOf = (requestId: string, kind: RewardKind) => RewardWork;

/** Plain workers of several kinds. They do not limit their slots: the policy gives each worker one dispatch at a time. */
export class RewardWorkers implements Machine {
  readonly #workOf: WorkOf;
  readonly #kinds: readonly RewardKind[];
  readonly #running = new Map<string, Running>();
  readonly #byTime = new IndexedHeap<Running>((a, b) => a.endsAt - b.endsAt || a.seq - b.seq);
  #seq = 0;
  /** Seconds of finished work, by kind, including work that reached its time limit. */
  readonly busySeconds: Record<RewardKind, number> = { rule: 0, sandbox: 0, judge: 0 };

  constructor(workOf: WorkOf, kinds: readonly RewardKind[] = rewardKind.options) {
    this.#workOf = workOf;
    this.#kinds = kinds;
  }

  /** Returns the events that report the workers to a policy. */
  static joining({ workers, judge }: RewardSettings): AnyEvent[] {
    return rewardKind.options.flatMap((kind) => {
      if (kind === 'judge' && judge !== undefined) return [];
      const width = String(workers[kind] - 1).length;
      return Array.from({ length: workers[kind] }, (_, index) => {
        const workerId = `${kind}-${String(index).padStart(width, '0')}`;
        return { type: 'reward-worker.added', at: 0, workerId, kind, slots: 1 } as AnyEvent;
      });
    });
  }

  carryOut(decision: VocabularyDecision, at: number): void {
    if (decision.type === 'reward.dispatch') {
      if (this.#kinds.includes(decision.kind)) this.#start(decision, at);
    } else if (decision.type === 'reward.cancel') this.#cancel(decision.dispatchId, at);
  }

  nextAt(): number {
    return this.#byTime.peek()?.endsAt ?? Number.POSITIVE_INFINITY;
  }

  advanceTo(at: number): AnyEvent[] {
    const events: AnyEvent[] = [];
    for (let next = this.#byTime.peek(); next !== undefined && next.endsAt <= at; next = this.#byTime.peek()) {
      this.#byTime.remove(next);
      this.#running.delete(next.decision.dispatchId);
      events.push(this.#ended(next));
    }
    return events;
  }

  #start(decision: Dispatch, at: number): void {
    const work = this.#workOf(decision.requestId, decision.kind);
    const endsAt = at + Math.min(work.seconds, decision.budgetSeconds);
    const one = { decision, seq: this.#seq++, work, startedAt: at, endsAt, isCancelled: false, heapIndex: -1 };
    this.#running.set(decision.dispatchId, one);
    this.#byTime.update(one);
  }

  #cancel(dispatchId: string, at: number): void {
    const one = this.#running.get(dispatchId);
    if (one === undefined) return;
    one.isCancelled = true;
    one.endsAt = at;
    this.#byTime.update(one);
  }

  #ended({ decision, work, startedAt, endsAt, isCancelled }: Running): AnyEvent {
    const seconds = endsAt - startedAt;
    this.busySeconds[decision.kind] += seconds;
    const isTimeout = work.seconds > decision.budgetSeconds;
    const outcome = isCancelled ? 'cancelled' : isTimeout ? 'timeout' : 'scored';
    const reward = outcome === 'scored' ? { reward: work.reward } : {};
    const { dispatchId } = decision;
    const event = { type: 'reward.finished', at: endsAt, dispatchId, outcome, ...reward, seconds };
    return event;
  }
}
