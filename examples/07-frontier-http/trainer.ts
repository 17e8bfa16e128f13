/**
 * A trainer of which only the times and the record are real. It takes updates in order, each after the optimizer has
 * stepped on the one before, and writes down every step before it says that it is made.
 */
import { EventEmitter, once } from 'node:events';
import { type Listening, listen, post, reply } from '../http-engine/http.ts';
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

export class Trainer {
  readonly #options: TrainerOptions;
  readonly #record: Records<Step>;
  readonly #steps = new Map<string, number>();
  readonly #accumulated = new Map<string, { readonly update: TrainingUpdate; readonly seconds: Promise<number> }>();
  readonly #stepped = new EventEmitter();
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

  /** How many updates of a round are in the weights. */
  stepsOf(roundId: string): number {
    return this.#steps.get(roundId) ?? 0;
  }

  /** Accumulates the gradients of an update. Gives the seconds that it took. */
  accumulate(update: TrainingUpdate): Promise<number> {
    const key = `${update.roundId} ${update.update}`;
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

  /** Steps the optimizer on an update; nothing, if that was done before. */
  async step(roundId: string, update: number): Promise<void> {
    const accumulated = this.#accumulated.get(`${roundId} ${update}`);
    if (update < this.stepsOf(roundId)) return;
    if (accumulated === undefined || update > this.stepsOf(roundId)) throw new Error(`no gradients of ${update}`);
    await accumulated.seconds;
    await this.#record.append(accumulated.update);
    this.#accumulated.delete(`${roundId} ${update}`);
    this.#steps.set(roundId, update + 1);
    this.#stepped.emit('step');
  }

  async #compute({ roundId, update, tokens }: TrainingUpdate): Promise<number> {
    while (this.stepsOf(roundId) < update) await once(this.#stepped, 'step');
    const { secondsPerToken, timeScale } = this.#options;
    const seconds = tokens * secondsPerToken;
    await new Promise((resolve) => setTimeout(resolve, (seconds * 1000) / timeScale));
    return seconds / timeScale;
  }

  close(): Promise<void> {
    return this.#record.close();
  }
}

/** Serves a trainer over HTTP: it outlives the host. */
export function serveTrainer(trainer: Trainer): Promise<Listening> {
  return listen({
    'POST /accumulate': async (body, response) => {
      const seconds = await trainer.accumulate(body as unknown as TrainingUpdate);
      reply(response, { seconds });
    },
    'POST /step': async ({ roundId, update }, response) => {
      await trainer.step(String(roundId), Number(update));
      reply(response, {});
    },
    'POST /steps': ({ roundId }, response) => reply(response, { steps: trainer.stepsOf(String(roundId)) }),
  });
}

/** The same trainer, from another process. */
export class TrainerClient {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async accumulate(update: TrainingUpdate): Promise<number> {
    return Number((await post(`${this.#url}/accumulate`, update)).seconds);
  }

  async step(roundId: string, update: number): Promise<void> {
    await post(`${this.#url}/step`, { roundId, update });
  }

  async stepsOf(roundId: string): Promise<number> {
    return Number((await post(`${this.#url}/steps`, { roundId })).steps);
  }
}
