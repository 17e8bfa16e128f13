/** The world of a simulated server: one seed, virtual time, and one queue of what happens next. */
import { createHash } from 'node:crypto';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { Heap } from '../../../src/core/collections/heap.ts';
import type { Clock } from '../../../src/rpc/index.ts';

/** A process of the world. Nothing of a dead process happens any more. */
export class Life {
  isAlive = true;
  /** Timers and turns of its clock that wait. */
  readonly waiting = new Set<Occurrence>();
}

interface Occurrence {
  readonly at: number;
  readonly order: number;
  readonly what: string;
  readonly life: Life | undefined;
  readonly happen: () => void;
  isCancelled: boolean;
}

/** Lets every promise settle: nothing in the world waits for the real event loop. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const before = (a: Occurrence, b: Occurrence): number => a.at - b.at || a.order - b.order;

/** A world. Two worlds with the same seed and the same code have the same trace. */
export class World {
  /** Virtual Unix time, in seconds. */
  now = 1000;
  readonly #generator: ReturnType<typeof xoroshiro128plus>;
  readonly #queue = new Heap<Occurrence>(before);
  readonly #hash = createHash('sha256');
  /** The trace; absent if only its hash is wanted. */
  readonly #lines: string[] | undefined;
  #order = 0;
  #failure: Error | undefined;
  /** Occurrences so far. */
  occurred = 0;
  /** How often what the seeds are for has happened. */
  readonly seen: Record<string, number> = {};

  readonly seed: number;

  constructor(seed: number, traced: boolean) {
    this.seed = seed;
    this.#generator = xoroshiro128plus(seed | 0);
    if (traced) this.#lines = [];
  }

  /** A whole number from 0 to `n` − 1. */
  below(n: number): number {
    return uniformInt(this.#generator, 0, n - 1);
  }

  /** True in so many of a thousand cases. */
  chance(perMille: number): boolean {
    return this.below(1000) < perMille;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** A time in seconds from `least` to `most`, in milliseconds. */
  seconds(least: number, most: number): number {
    return least + (this.below(1001) / 1000) * (most - least);
  }

  /** Counts what the seeds are for. */
  count(what: string): void {
    this.seen[what] = (this.seen[what] ?? 0) + 1;
  }

  /** Adds a line to the trace. */
  note(line: string): void {
    const text = `${this.now.toFixed(4)} ${line}\n`;
    this.#hash.update(text);
    this.#lines?.push(text);
  }

  get trace(): string {
    return this.#lines?.join('') ?? '';
  }

  /** Hash of the trace. Call it once, at the end. */
  digest(): string {
    return this.#hash.digest('hex').slice(0, 16);
  }

  /** Something that will happen. Returns a function that cancels it. */
  after(seconds: number, what: string, happen: () => void, life?: Life): () => void {
    const one = this.#plan(seconds, what, happen, life);
    return () => this.#cancel(one);
  }

  #plan(seconds: number, what: string, happen: () => void, life: Life | undefined): Occurrence {
    const one = { at: this.now + seconds, order: (this.#order += 1), what, life, happen, isCancelled: false };
    this.#queue.push(one);
    return one;
  }

  #cancel(one: Occurrence): void {
    one.isCancelled = true;
    one.life?.waiting.delete(one);
  }

  sleep(seconds: number, what: string, life?: Life): Promise<void> {
    return new Promise((resolve) => this.after(seconds, what, resolve, life));
  }

  /**
   * The clock of a process.
   *
   * @param haste - most seconds that pass while the process computes between two looks at its clock
   */
  clockOf(life: Life, haste: number): Clock {
    const wait = (seconds: number, what: string, callback: () => void): (() => void) => {
      const one = this.#plan(seconds, what, callback, life);
      life.waiting.add(one);
      return () => this.#cancel(one);
    };
    return {
      now: () => {
        if (haste > 0) this.now += this.seconds(0, haste);
        return this.now;
      },
      after: (seconds, callback) => wait(seconds, 'timer', callback),
      soon: (callback) => void wait(0, 'turn', callback),
    };
  }

  /** Ends the world: something was wrong. The first failure counts. */
  fail(message: string): void {
    this.#failure ??= new Error(message);
  }

  /** Lets things happen until the story is told. Throws what was wrong; also if nothing happens any more, or for too long. */
  async run(story: Promise<void>, mostSeconds: number): Promise<void> {
    let isOver = false;
    const end = this.now + mostSeconds;
    story.then(
      () => (isOver = true),
      (error: Error) => {
        this.#failure ??= error;
      },
    );
    for (await settled(); !isOver && this.#failure === undefined; await settled()) {
      const next = this.#queue.pop();
      if (next === undefined) throw new Error('rule 10: everybody waits, and nothing will happen');
      if (next.isCancelled) continue;
      next.life?.waiting.delete(next);
      if (next.life?.isAlive === false) continue;
      this.now = Math.max(this.now, next.at);
      if (this.now > end) throw new Error(`rule 10: not done after ${mostSeconds} s`);
      this.occurred += 1;
      this.note(next.what);
      next.happen();
    }
    if (this.#failure !== undefined) throw this.#failure;
  }
}
