/**
 * A trainer of which only the times and the record are real. It takes updates in order, each after the optimizer has
 * stepped on the one before, and writes down every step before it says that it is made.
 */
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Records, readRecords } from './records.ts';

/** A group as the trainer gets it; the bodies of its responses are in the host's file of responses. */
export interface TrainingGroup {
  readonly groupId: string;
  /** Its place among the trainable groups of its round. */
  readonly order: number;
  readonly requestIds: readonly string[];
  readonly advantages: readonly number[];
}

/** An update to train on. Its name is its round and its number: another try of it is the same update. */
export interface TrainingUpdate {
  readonly roundId: string;
  readonly update: number;
  readonly tokens: number;
  readonly groups: readonly TrainingGroup[];
}

/** One line of the record: a step that is in the weights. */
export type Step = TrainingUpdate;

/** How fast the trainer is. */
export interface TrainerOptions {
  readonly secondsPerToken: number;
  /** Seconds of the trainer that pass in one of the wall clock. */
  readonly timeScale: number;
}

const keyOf = (roundId: string, update: number): string => `${roundId}/${update}`;

export class Trainer {
  readonly #options: TrainerOptions;
  readonly #record: Records<Step>;
  readonly #steps = new Map<string, number>();
  readonly #accumulated = new Map<string, { readonly update: TrainingUpdate; readonly seconds: Promise<number> }>();
  readonly #stepped = new EventEmitter();
  /** Steps are made one after the other. */
  #stepping: Promise<void> = Promise.resolve();
  #isComputing = false;
  #epoch = 0;
  /** Updates that came again, and were not computed again. */
  repeats = 0;

  private constructor(record: Records<Step>, steps: readonly Step[], options: TrainerOptions) {
    this.#record = record;
    this.#options = options;
    for (const { roundId, update } of steps) this.#steps.set(roundId, update + 1);
  }

  /** A trainer that goes on behind the last step of its record. */
  static async open(path: string, options: TrainerOptions): Promise<Trainer> {
    return new Trainer(await Records.open<Step>(path), readRecords<Step>(path), options);
  }

  /** How many updates are in the weights. */
  get steps(): number {
    let steps = 0;
    for (const one of this.#steps.values()) steps += one;
    return steps;
  }

  /** Whether it is computing gradients. */
  get isComputing(): boolean {
    return this.#isComputing;
  }

  /** How many updates of a round are in the weights. */
  stepsOf(roundId: string): number {
    return this.#steps.get(roundId) ?? 0;
  }

  /**
   * A host begins. Those before it are refused from now on, and what they have begun is over when this answers: what it
   * says of the steps stays true until the new host steps.
   *
   * @param epoch - higher for each host that begins, or the same where that one has done nothing yet
   * @throws Error when a later host is at work
   */
  async attach(epoch: number): Promise<Record<string, number>> {
    this.#checkEpoch(epoch);
    this.#epoch = epoch;
    await this.#stepping;
    return Object.fromEntries(this.#steps);
  }

  /**
   * Accumulates the gradients of an update. Gives the seconds that it took.
   *
   * @throws Error when the update is in the weights, or a later host is at work
   */
  accumulate(update: TrainingUpdate, epoch: number): Promise<number> {
    this.#checkEpoch(epoch);
    const key = keyOf(update.roundId, update.update);
    const known = this.#accumulated.get(key);
    if (known !== undefined) {
      this.repeats += 1;
      return known.seconds;
    }
    if (update.update < this.stepsOf(update.roundId)) throw new Error(`${key} is in the weights`);
    const seconds = this.#compute(update);
    this.#accumulated.set(key, { update, seconds });
    return seconds;
  }

  /**
   * Steps the optimizer on an update; nothing, if that was done before.
   *
   * @throws Error when its gradients are not there, or a later host is at work
   */
  step(roundId: string, update: number, epoch: number): Promise<void> {
    this.#checkEpoch(epoch);
    const step = this.#stepping.then(() => this.#step(roundId, update));
    this.#stepping = step.catch(() => {});
    return step;
  }

  async #step(roundId: string, update: number): Promise<void> {
    const key = keyOf(roundId, update);
    const steps = this.stepsOf(roundId);
    if (update < steps) return;
    const accumulated = this.#accumulated.get(key);
    if (accumulated === undefined || update > steps) throw new Error(`no gradients of ${key}`);
    await accumulated.seconds;
    await this.#record.append(accumulated.update);
    this.#accumulated.delete(key);
    this.#steps.set(roundId, update + 1);
    this.#stepped.emit('step');
  }

  #checkEpoch(epoch: number): void {
    if (epoch < this.#epoch) throw new Error(`host ${epoch} is over: host ${this.#epoch} is at work`);
  }

  async #compute({ roundId, update, tokens }: TrainingUpdate): Promise<number> {
    while (this.stepsOf(roundId) < update) await once(this.#stepped, 'step');
    const { secondsPerToken, timeScale } = this.#options;
    const seconds = tokens * secondsPerToken;
    this.#isComputing = true;
    await sleep((seconds * 1000) / timeScale);
    this.#isComputing = false;
    return seconds / timeScale;
  }

  close(): Promise<void> {
    return this.#record.close();
  }
}
