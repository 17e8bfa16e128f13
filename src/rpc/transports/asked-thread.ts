/**
 * A thread from the point of view of its starter: the thread does tasks one after the other, and its errors arrive with their own
 * texts.
 */
import type { Worker } from 'node:worker_threads';
import { caused, failure, PolicyError, revived } from '../../errors.ts';
import type { ThreadAnswer } from './thread-tasks.ts';

interface Asked {
  readonly resolve: (made: unknown) => void;
  readonly reject: (error: PolicyError) => void;
}

/** A thread that answers by {@link doTasks}. The thread keeps the process alive only during a task. */
export class AskedThread {
  readonly #worker: Worker | undefined;
  readonly #expected: string;
  #asked: Asked | undefined;
  #gone: PolicyError | undefined;
  /** Whether somebody may wait for the thread's end, so that the thread must keep the process alive until then. */
  #isEnding = false;

  /**
   * Starts the thread without throwing: the reason why it could not start is the answer to its first task.
   *
   * @param expected - result of a task in the words of an error, such as `a plan`
   */
  constructor(start: () => Worker, expected: string) {
    this.#expected = expected;
    try {
      this.#worker = start()
        .on('message', (answer: ThreadAnswer) => this.#settle(answer))
        .on('messageerror', (error) => this.#settle(this.#failed(error)))
        .on('error', (error) => this.#leave(error))
        .on('exit', (code) => this.#leave(new Error(`its thread ended with exit code ${code}`)));
      this.#worker.unref();
    } catch (error) {
      this.#leave(error);
    }
  }

  /** Whether the thread has ended: no task is done any more. */
  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  /**
   * Gives the thread a task, after its last one.
   *
   * @throws PolicyError the error of the task; `internal` for a defect and for a thread that ends, `limit_exceeded` for one whose
   * memory is full, `invalid_input` for a task that cannot be handed to a thread
   */
  ask(task: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#gone !== undefined) return reject(this.#gone);
      try {
        this.#worker!.postMessage(task);
      } catch (error) {
        const expected = 'what can be handed to a thread';
        return reject(new PolicyError('invalid_input', { expected, got: caused(error), cause: error }));
      }
      this.#asked = { resolve, reject };
      this.#worker!.ref();
    });
  }

  /** Ends the thread, in the middle of a task, too. */
  async stop(): Promise<void> {
    this.#isEnding = true;
    await this.#worker?.terminate();
  }

  #settle(answer: ThreadAnswer | PolicyError): void {
    const asked = this.#asked;
    this.#asked = undefined;
    if (!this.#isEnding) this.#worker?.unref();
    if (answer instanceof PolicyError) asked?.reject(answer);
    else if ('refused' in answer) asked?.reject(revived(answer.refused));
    else asked?.resolve(answer.made);
  }

  #leave(error: unknown): void {
    this.#isEnding = true;
    this.#gone ??= this.#failed(error);
    this.#settle(this.#gone);
  }

  #failed(error: unknown): PolicyError {
    if ((error as NodeJS.ErrnoException | null)?.code !== 'ERR_WORKER_OUT_OF_MEMORY')
      return failure(this.#expected, error);
    const expected = `${this.#expected} that fits into the memory of a thread`;
    return new PolicyError('limit_exceeded', { expected, got: caused(error), cause: error });
  }
}
