/** A trainer of which only the times and the record are real, with checkpoints. */
import { setTimeout as sleep } from 'node:timers/promises';

/** What a checkpoint of the trainer has. */
export interface TrainerState {
  readonly weightVersion: number;
  /** Prompts that the weights were trained on, in order. */
  readonly trained: readonly string[];
  readonly steps: number;
}

export class Trainer {
  readonly #secondsPerToken: number;
  readonly #accumulated = new Map<string, readonly string[]>();
  /** Until the optimizer has stepped on all updates so far: the next one is computed with its weights. */
  #turn: Promise<void> = Promise.resolve();
  #stepped = new Map<string, () => void>();
  #state: TrainerState = { weightVersion: 1, trained: [], steps: 0 };

  constructor(secondsPerToken: number) {
    this.#secondsPerToken = secondsPerToken;
  }

  get state(): TrainerState {
    return this.#state;
  }

  /** Gradients of one update; gives the seconds that it took. */
  async accumulate(updateId: string, groups: readonly string[], tokens: number): Promise<number> {
    const before = this.#turn;
    this.#turn = new Promise((resolve) => this.#stepped.set(updateId, resolve));
    await before;
    const seconds = tokens * this.#secondsPerToken;
    await sleep(seconds * 1000);
    this.#accumulated.set(updateId, groups);
    return seconds;
  }

  /** The optimizer steps on an update. */
  step(updateId: string): void {
    const groups = this.#accumulated.get(updateId);
    if (groups === undefined) throw new Error(`${updateId} was never accumulated`);
    this.#accumulated.delete(updateId);
    this.#stepped.get(updateId)!();
    this.#stepped.delete(updateId);
    this.#state = { ...this.#state, trained: [...this.#state.trained, ...groups], steps: this.#state.steps + 1 };
  }

  /** A new version of the weights, after all updates of a round. */
  publish(): number {
    this.#state = { ...this.#state, weightVersion: this.#state.weightVersion + 1 };
    return this.#state.weightVersion;
  }

  /** Goes back to a checkpoint. */
  restore(state: TrainerState): void {
    this.#accumulated.clear();
    this.#stepped.clear();
    this.#turn = Promise.resolve();
    this.#state = state;
  }
}
