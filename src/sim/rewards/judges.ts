/**
 * Replicas of a judge model, which receive dispatches and return judgements. A judge on separate GPUs takes nothing from the
 * actor. A judge on the actor's GPUs takes memory, and SMs while it computes: as `judge.place` says, or otherwise with the whole
 * judge on the GPU.
 */

import { IndexedHeap } from '../../core/collections/heap.ts';
import type { AnyEvent } from '../../core/machine/definition.ts';
import type { VocabularyDecision } from '../../schemas/index.ts';
import type { Machine } from '../cluster/machines/machine.ts';
import { type JudgeLayout, laidOutSeconds, loadSeconds, slowdown, wholeBytes, wholeSeconds } from './judge-layout.ts';
import type { JudgeSettings } from './judge-settings.ts';

type Dispatch = Extract<VocabularyDecision, { type: 'reward.dispatch' }>;

/** A judge's reward of a response, with the length of the response. */
export interface Judged {
  readonly tokens: number;
  readonly reward: 0 | 1;
}

/** The judge's interface to GPUs that it shares with the actor. */
export interface SharedGpus {
  /** Whether an engine on this GPU has requests. */
  isBusy(gpu: number): boolean;
  /** Slows decode steps on this GPU by this factor from now on. */
  slow(gpu: number, factor: number, at: number): void;
  /** Takes so many bytes per GPU from the KV cache from now on. */
  reserve(bytes: number, at: number): void;
}

interface Replica {
  readonly id: string;
  readonly index: number;
  readonly queue: Dispatch[];
  isComputing: boolean;
  startedAt: number;
  endsAt: number;
  /** Time at which the weights of the replica are on the GPU; `Infinity` while they are in host memory. */
  readyAt: number;
  heapIndex: number;
}

/** All replicas of the judge. A colocated judge has one for each GPU, in the order of the GPUs. */
export class Judges implements Machine {
  readonly #settings: JudgeSettings;
  readonly #replicas = new Map<string, Replica>();
  readonly #computing = new IndexedHeap<Replica>((a, b) => a.endsAt - b.endsAt || a.index - b.index);
  readonly #where = new Map<string, Replica>();
  readonly #judge: (requestId: string) => Judged;
  readonly #gpus: SharedGpus | undefined;
  readonly #events: AnyEvent[] = [];
  #layout: JudgeLayout | undefined;
  /** Whether a round is in flight: a judge that waits for the end of the rollout has no GPU then. */
  #isRollingOut = false;

  /** @param gpus - the GPUs that the judge shares with the actor; absent if it has its own GPUs */
  constructor(
    ids: readonly string[],
    settings: JudgeSettings,
    judge: (requestId: string) => Judged,
    gpus?: SharedGpus,
  ) {
    this.#settings = settings;
    this.#judge = judge;
    this.#gpus = gpus;
    ids.forEach((id, index) => {
      const times = { isComputing: false, startedAt: 0, endsAt: 0, readyAt: 0 };
      this.#replicas.set(id, { id, index, queue: [], ...times, heapIndex: -1 });
    });
  }

  /** Returns the events that report the replicas to a policy. */
  joining(): AnyEvent[] {
    const { slots } = this.#settings;
    return [...this.#replicas.keys()].map(
      (workerId) => ({ type: 'reward-worker.added', at: 0, workerId, kind: 'judge', slots }) as AnyEvent,
    );
  }

  carryOut(decision: VocabularyDecision, at: number): void {
    switch (decision.type) {
      case 'reward.dispatch':
        return decision.kind === 'judge' ? this.#take(decision, at) : undefined;
      case 'reward.cancel':
        return this.#cancel(decision.dispatchId, at);
      case 'judge.place':
        this.#layout = decision;
        return this.#gpus?.reserve(decision.memoryBytes, at);
      case 'round.planned':
        return this.#beginRound(at);
      case 'round.drained':
        this.#isRollingOut = false;
        for (const replica of this.#replicas.values()) this.#begin(replica, at);
    }
  }

  nextAt(): number {
    return this.#events.length > 0 ? 0 : (this.#computing.peek()?.endsAt ?? Number.POSITIVE_INFINITY);
  }

  advanceTo(at: number): AnyEvent[] {
    for (let next = this.#computing.peek(); next !== undefined && next.endsAt <= at; next = this.#computing.peek()) {
      const dispatch = next.queue[0]!;
      const { reward } = this.#judge(dispatch.requestId);
      this.#end(next, dispatch, { outcome: 'scored', reward, seconds: next.endsAt - next.startedAt }, next.endsAt);
    }
    return this.#events.splice(0);
  }

  #waits(): boolean {
    return this.#gpus !== undefined && this.#layout === undefined && this.#settings.withoutOffload === 'after';
  }

  #beginRound(at: number): void {
    this.#isRollingOut = true;
    if (this.#waits()) for (const replica of this.#replicas.values()) replica.readyAt = Number.POSITIVE_INFINITY;
    else if (this.#layout === undefined) this.#gpus?.reserve(wholeBytes(this.#settings), at);
  }

  #take(dispatch: Dispatch, at: number): void {
    const replica = this.#replicas.get(dispatch.workerId)!;
    replica.queue.push(dispatch);
    this.#where.set(dispatch.dispatchId, replica);
    this.#begin(replica, at);
  }

  #begin(replica: Replica, at: number): void {
    const dispatch = replica.queue[0];
    if (dispatch === undefined || replica.isComputing || (this.#isRollingOut && this.#waits())) return;
    if (replica.readyAt === Number.POSITIVE_INFINITY) replica.readyAt = at + loadSeconds(this.#settings);
    replica.startedAt = Math.max(at, replica.readyAt);
    replica.endsAt = replica.startedAt + this.#seconds(replica, dispatch);
    replica.isComputing = true;
    this.#computing.update(replica);
    // A judge that is loaded after the rollout computes while no engine does, and so slows nothing down.
    if (!this.#waits()) this.#gpus?.slow(replica.index, slowdown(this.#layout), at);
    this.#events.push({ type: 'reward.started', at, dispatchId: dispatch.dispatchId } as AnyEvent);
  }

  #seconds({ index }: Replica, { requestId }: Dispatch): number {
    const { tokens } = this.#judge(requestId);
    if (this.#gpus === undefined) return wholeSeconds(this.#settings, tokens, false);
    if (this.#layout !== undefined) return laidOutSeconds(this.#settings, this.#layout, tokens);
    return wholeSeconds(this.#settings, tokens, !this.#waits() && this.#gpus.isBusy(index));
  }

  #cancel(dispatchId: string, at: number): void {
    const replica = this.#where.get(dispatchId);
    if (replica === undefined) return;
    const dispatch = replica.queue.find((one) => one.dispatchId === dispatchId)!;
    const isRunning = replica.isComputing && replica.queue[0] === dispatch;
    const seconds = isRunning ? Math.max(0, at - replica.startedAt) : 0;
    this.#end(replica, dispatch, { outcome: 'cancelled', seconds }, at);
  }

  #end(replica: Replica, dispatch: Dispatch, result: object, at: number): void {
    const { dispatchId } = dispatch;
    const isRunning = replica.isComputing && replica.queue[0] === dispatch;
    replica.queue.splice(replica.queue.indexOf(dispatch), 1);
    this.#where.delete(dispatchId);
    this.#events.push({ type: 'reward.finished', at, dispatchId, ...result } as AnyEvent);
    if (!isRunning) return;
    replica.isComputing = false;
    this.#computing.remove(replica);
    this.#begin(replica, at);
    if (!replica.isComputing) this.#gpus?.slow(replica.index, 1, at);
  }
}
