/** Computes plans in threads, so that no plan holds up an event. */
import { availableParallelism } from 'node:os';
import { Fifo } from '../../core/collections/fifo.ts';
import { systemClock } from '../../core/machine/clock.ts';
import { PolicyError } from '../../errors.ts';
import { JsonText, type PlanJob, type Planning } from '../methods/planning.ts';
import { AskedThread } from './asked-thread.ts';
import type { PlanThreadJob, PlanThreadStart } from './plan-worker.ts';
import { startThread } from './thread.ts';

/** Options of {@link planThreads}. */
export interface PlanThreadsOptions {
  /** URL of a module that exports planners of your own, as `--policies` does; each thread loads it. */
  readonly definitions?: string | readonly string[] | undefined;
  /** Most threads, >= 1; by default 2, and 1 where there are two cores or fewer. A thread is started when it is needed. */
  readonly threads?: number;
}

/** Seconds that a search may continue after its deadline before its thread is stopped. */
const graceSeconds = 2;

interface Waiting extends PlanJob {
  /** Forgotten once the job is over. */
  input: unknown;
  readonly done: (text: JsonText) => void;
  readonly failed: (error: Error) => void;
  /** Ends the waits for the deadline and for the signal. */
  forget: () => void;
  over: boolean;
  thread: Thread | undefined;
}

/** One thread, and its job. */
class Thread {
  readonly #asked: AskedThread;
  readonly #late = new Int32Array(new SharedArrayBuffer(4));
  readonly #ended: (thread: Thread) => void;
  #count = 0;
  job: Waiting | undefined;

  /** @param ended - called when a job is over */
  constructor(definitions: readonly string[] | undefined, ended: (thread: Thread) => void) {
    const start: PlanThreadStart = { definitions, late: this.#late.buffer as SharedArrayBuffer };
    this.#asked = new AskedThread(() => startThread('./plan-worker.ts', import.meta.url, start), 'a plan');
    this.#ended = ended;
  }

  get isGone(): boolean {
    return this.#asked.isGone;
  }

  begin(job: Waiting): void {
    this.job = job;
    job.thread = this;
    this.#count += 1;
    const over = (answer: JsonText | Error): void => {
      settle(job, answer);
      this.job = undefined;
      this.#ended(this);
    };
    const { planner, input } = job;
    const asked: PlanThreadJob = { job: this.#count, planner, input };
    this.#asked.ask(asked).then((json) => over(new JsonText(json as string)), over);
  }

  /** Asks the search to end with its best plan so far. */
  hurry(): void {
    Atomics.store(this.#late, 0, this.#count);
  }

  stop(): void {
    void this.#asked.stop();
  }
}

function settle(job: Waiting | undefined, answer: JsonText | Error): void {
  if (job === undefined || job.over) return;
  job.over = true;
  job.input = undefined;
  job.forget();
  if (answer instanceof JsonText) job.done(answer);
  else job.failed(answer);
}

const tooLate = (seconds: number, got: string): PolicyError =>
  new PolicyError('limit_exceeded', { path: 'deadlineSeconds', expected: `a plan within ${seconds} seconds`, got });
const abandoned = (): PolicyError =>
  new PolicyError('limit_exceeded', { expected: 'a client that waits', got: 'none' });

class PlanThreads implements Planning {
  readonly #definitions: readonly string[] | undefined;
  readonly #most: number;
  readonly #idle: Thread[] = [];
  readonly #threads = new Set<Thread>();
  /** Waiting plans by client, who is known by its signal; the client whose turn is next comes first. */
  readonly #waiting = new Map<AbortSignal | undefined, Fifo<Waiting>>();
  #closed = false;

  constructor({ definitions, threads = availableParallelism() > 2 ? 2 : 1 }: PlanThreadsOptions) {
    this.#definitions = typeof definitions === 'string' ? [definitions] : definitions;
    this.#most = threads;
  }

  plan(asked: PlanJob): Promise<JsonText> {
    return new Promise((done, failed) => {
      const job: Waiting = { ...asked, done, failed, forget: () => undefined, over: false, thread: undefined };
      if (this.#closed || asked.signal?.aborted) return failed(abandoned());
      this.#watch(job);
      const { signal } = asked;
      const own = this.#waiting.get(signal) ?? new Fifo();
      own.push(job);
      this.#waiting.set(signal, own);
      this.#next();
    });
  }

  close(): void {
    this.#closed = true;
    for (const own of this.#waiting.values()) for (const job of own) settle(job, abandoned());
    this.#waiting.clear();
    for (const thread of this.#threads) {
      settle(thread.job, abandoned());
      thread.stop();
    }
  }

  /** Ends a job at its deadline, or when nobody waits for it. */
  #watch(job: Waiting): void {
    const { deadlineSeconds, signal } = job;
    let cancel = (): void => undefined;
    const end = (error: PolicyError): void => {
      if (job.over) return;
      if (job.thread === undefined) return settle(job, error);
      job.thread.hurry();
      const { thread } = job;
      cancel = systemClock.after(graceSeconds, () => {
        settle(job, error);
        thread.stop();
      });
    };
    const leave = (): void => {
      cancel();
      end(abandoned());
    };
    if (deadlineSeconds !== undefined) {
      cancel = systemClock.after(deadlineSeconds, () => {
        const got = job.thread === undefined ? 'no thread was free' : 'the planner was not done';
        end(tooLate(deadlineSeconds, got));
      });
    }
    signal?.addEventListener('abort', leave);
    job.forget = () => {
      cancel();
      signal?.removeEventListener('abort', leave);
    };
  }

  /** Begins plans while threads are free, one plan of each client in turn. */
  #next(): void {
    for (const [signal, own] of this.#waiting) {
      let job = own.peek();
      for (; job?.over; job = own.peek()) own.shift();
      if (job !== undefined) {
        const thread = this.#free();
        if (thread === undefined) return;
        thread.begin(own.shift()!);
      }
      this.#waiting.delete(signal);
      // This iteration reaches the client again after the other clients.
      if (own.size > 0) this.#waiting.set(signal, own);
    }
  }

  #free(): Thread | undefined {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (!idle.isGone) return idle;
      this.#threads.delete(idle);
    }
    if (this.#threads.size >= this.#most) return undefined;
    const thread = new Thread(this.#definitions, (one) => {
      if (one.isGone) this.#threads.delete(one);
      else this.#idle.push(one);
      if (!this.#closed) this.#next();
    });
    this.#threads.add(thread);
    return thread;
  }
}

/**
 * Makes threads that compute plans: as `planning` of a server, they keep every plan off the thread that answers events. A thread
 * that has stopped is replaced when the next plan needs it.
 */
export function planThreads(options: PlanThreadsOptions = {}): Planning {
  return new PlanThreads(options);
}
