/** The environments of programs as a machine: environments start, fail to start, and end. */

import { Heap } from '../../core/collections/heap.ts';
import type { AnyEvent } from '../../core/machine/definition.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { Machine } from '../cluster/machines/machine.ts';
import { normal, uniform } from '../workload/random.ts';
import type { AgenticJob } from './settings.ts';

interface Start {
  readonly event: AnyEvent;
  readonly seq: number;
}

// Keys of the random draws.
const [timeKey, failureKey] = [211, 212];

/** Environments in slots. Times and failures are fixed by the seed and the number of the start. */
export class Slots implements Machine {
  /** Environments that were started, and starts that failed. */
  starts = 0;
  failures = 0;
  readonly #kinds: NonNullable<AgenticJob['slots']>;
  readonly #seed: number;
  readonly #starting = new Heap<Start>((a, b) => a.event.at - b.event.at || a.seq - b.seq);
  /** Time since which each environment has its program. */
  readonly #since = new Map<string, number>();
  #released: AnyEvent[] = [];
  #usedSeconds = 0;

  constructor(kinds: NonNullable<AgenticJob['slots']>, seed: number) {
    this.#kinds = kinds;
    this.#seed = seed;
  }

  /** Returns the events that tell how many environments may exist. */
  opening(): AnyEvent[] {
    return Object.entries(this.#kinds).map(
      ([environment, { slots }]) => ({ type: 'slots.changed', at: 0, environment, slots }) as AnyEvent,
    );
  }

  /** Returns the used share of all slots' time, from the beginning to `at`. */
  use(at: number): number {
    let used = this.#usedSeconds;
    for (const since of this.#since.values()) used += at - since;
    const slots = Object.values(this.#kinds).reduce((sum, kind) => sum + kind.slots, 0);
    return at > 0 ? used / (slots * at) : 0;
  }

  carryOut(decision: VocabularyDecision, at: number): void {
    switch (decision.type) {
      case 'slot.prewarm':
        this.#start(decision.slotId, decision.environment, at);
        break;
      case 'slot.assign':
        this.#since.set(decision.slotId, at);
        break;
      case 'slot.reclaim': {
        const { slotId } = decision;
        this.#usedSeconds += at - (this.#since.get(slotId) ?? at);
        this.#since.delete(slotId);
        this.#released.push({ type: 'slot.released', at, slotId } as AnyEvent);
        break;
      }
      default:
    }
  }

  nextAt(): number {
    return this.#starting.peek()?.event.at ?? Infinity;
  }

  advanceTo(at: number): AnyEvent[] {
    const events = this.#released;
    this.#released = [];
    for (let next = this.#starting.peek(); next !== undefined && next.event.at <= at; next = this.#starting.peek()) {
      this.#starting.pop();
      events.push(next.event);
    }
    return events;
  }

  #start(slotId: string, environment: string, at: number): void {
    const { startSeconds = 0, spread = 0, failureShare = 0 } = this.#kinds[environment] ?? {};
    const seq = this.starts;
    this.starts += 1;
    const endsAt = at + startSeconds * (spread === 0 ? 1 : Math.exp(spread * normal(this.#seed, timeKey, seq)));
    const fails = failureShare > 0 && uniform(this.#seed, failureKey, seq) < failureShare;
    if (fails) this.failures += 1;
    const event = fails
      ? { type: 'slot.failed', at: endsAt, slotId, message: 'it did not start' }
      : { type: 'slot.ready', at: endsAt, slotId };
    this.#starting.push({ event: event as AnyEvent, seq });
  }
}
