/** The trainer over HTTP, and its client. */
import { type Listening, listen, post, reply } from './http.ts';
import type { Trainer, TrainingUpdate } from './trainer.ts';

/** Serves a trainer over HTTP: it outlives the host. */
export function serveTrainer(trainer: Trainer): Promise<Listening> {
  return listen({
    'POST /attach': async ({ epoch }, response) => reply(response, await trainer.attach(Number(epoch))),
    'POST /accumulate': async ({ epoch, update }, response) => {
      const seconds = await trainer.accumulate(update as TrainingUpdate, Number(epoch));
      reply(response, { seconds });
    },
    'POST /step': async ({ epoch, roundId, update }, response) => {
      await trainer.step(String(roundId), Number(update), Number(epoch));
      reply(response, {});
    },
  });
}

/** The same trainer, from another process. Every call names the host that makes it. */
export class TrainerClient {
  readonly #url: string;
  readonly #epoch: number;

  constructor(url: string, epoch: number) {
    this.#url = url;
    this.#epoch = epoch;
  }

  /** Steps of each round that are in the weights. */
  async attach(): Promise<Record<string, number>> {
    return (await this.#post('attach', {})) as Record<string, number>;
  }

  async accumulate(update: TrainingUpdate): Promise<number> {
    return Number((await this.#post('accumulate', { update })).seconds);
  }

  async step(roundId: string, update: number): Promise<void> {
    await this.#post('step', { roundId, update });
  }

  #post(path: string, body: object): Promise<Record<string, unknown>> {
    return post(`${this.#url}/${path}`, { epoch: this.#epoch, ...body });
  }
}
