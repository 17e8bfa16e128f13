/** The verifier as a machine: each response gets its reward after some seconds, independently of all others. */

import { IndexedHeap } from '../../../core/collections/heap.ts';
import type { AnyEvent } from '../../../core/machine/definition.ts';
import { Correctness } from '../../rewards/correctness.ts';
import { normal } from '../../workload/random.ts';
import type { PromptSource } from '../source.ts';
import type { Machine } from './machine.ts';

/** Costs of the verifier: median seconds from a response to its reward, their spread, and the scoring of responses. */
export type VerifierSettings = { readonly medianSeconds: number; readonly spread: number } & ConstructorParameters<
  typeof Correctness
>[0];

interface Check {
  readonly requestId: string;
  readonly isCorrect: boolean;
  readonly endsAt: number;
  readonly seq: number;
  heapIndex: number;
}

// Key of the verifier's random draws.
const latencyKey = 201;

/** Verifies responses. Latencies and rewards are fixed by seed, prompt and sample, for every scheduler. */
export class Verifier implements Machine {
  readonly #settings: VerifierSettings;
  readonly #source: PromptSource;
  readonly #seed: number;
  readonly #correctness: Correctness;
  readonly #running = new IndexedHeap<Check>((a, b) => a.endsAt - b.endsAt || a.seq - b.seq);
  #seq = 0;

  constructor(settings: VerifierSettings, source: PromptSource, seed: number) {
    this.#settings = settings;
    this.#source = source;
    this.#seed = seed;
    this.#correctness = new Correctness(settings, seed);
  }

  /** Starts to verify a response. */
  verify(requestId: string, at: number): void {
    const { medianSeconds, spread } = this.#settings;
    const { promptIndex, sample, correct } = this.#source.drawn(requestId)!;
    const factor = spread === 0 ? 1 : Math.exp(spread * normal(this.#seed, latencyKey, promptIndex, sample));
    const isCorrect = correct ?? this.#correctness.isCorrect(promptIndex, sample);
    const endsAt = at + medianSeconds * factor;
    this.#running.update({ requestId, isCorrect, endsAt, seq: this.#seq++, heapIndex: -1 });
  }

  carryOut(): void {}

  nextAt(): number {
    return this.#running.peek()?.endsAt ?? Number.POSITIVE_INFINITY;
  }

  advanceTo(at: number): AnyEvent[] {
    const events: AnyEvent[] = [];
    for (let next = this.#running.peek(); next !== undefined && next.endsAt <= at; next = this.#running.peek()) {
      this.#running.remove(next);
      const { requestId, isCorrect } = next;
      events.push({ type: 'reward.ready', at, requestId, reward: isCorrect ? 1 : 0 } as AnyEvent);
    }
    return events;
  }
}
