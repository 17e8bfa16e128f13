/** The orchestrator: carries decisions out, and reports what came of them. It decides nothing. */
import { appendFileSync } from 'node:fs';
import type { Engine } from './engines.ts';
import { type Decision, Session } from './session.ts';
import type { Trainer, TrainerState } from './trainer.ts';

/** All that a later host needs; taken between two rounds. */
export interface Checkpoint {
  readonly snapshot: object;
  /** Prompts that were drawn from the data. */
  readonly cursor: number;
  readonly trainer: TrainerState;
}

/** Where the orchestrator works. */
export interface Job {
  readonly socket: string;
  readonly config: object;
  readonly prompts: readonly string[];
  readonly engines: readonly Engine[];
  readonly trainer: Trainer;
  /** File that every request is named in before it is launched. */
  readonly launches: string;
  readonly rewardOf: (promptId: string, tokens: number) => number;
}

interface Running {
  readonly engine: Engine;
  readonly promptId: string;
  readonly stop: AbortController;
}

export class Orchestrator {
  readonly #job: Job;
  readonly #session: Session;
  readonly #life: number;
  readonly #isRestart: boolean;
  readonly #running = new Map<string, Running>();
  readonly #promptOf = new Map<string, { promptId: string; tokens: number }>();
  readonly #over = new AbortController();
  #cursor: number;
  #waiting: { roundId: string; left: Set<string>; done: () => void; failed: (error: unknown) => void } | undefined;
  /** The last round that was complete: its kind, and how many prompts it left for a later one. */
  completed = { kind: 'none', deferred: 0 };

  /** @param life - from 1; each has ids of its own */
  constructor(job: Job, life: number, checkpoint?: Checkpoint) {
    this.#job = job;
    this.#life = life;
    this.#isRestart = checkpoint !== undefined;
    this.#cursor = checkpoint?.cursor ?? 0;
    if (checkpoint !== undefined) job.trainer.restore(checkpoint.trainer);
    this.#session = new Session({
      socket: job.socket,
      producer: `life-${life}`,
      start: checkpoint === undefined ? { config: job.config } : { snapshot: checkpoint.snapshot },
      decided: (decision) => this.#carryOut(decision),
      failed: (error) => this.#waiting?.failed(error),
    });
  }

  get runningRequests(): number {
    return this.#running.size;
  }

  get reconnects(): number {
    return this.#session.reconnects;
  }

  async open(): Promise<void> {
    await this.#session.open();
    if (this.#isRestart) this.#session.send('host.restarted', { idPrefix: `life-${this.#life}:` });
    for (const { engineId, isUp } of this.#job.engines) if (isUp) this.#session.send('engine.added', { engineId });
  }

  /** One round, trained and published; nothing of it runs any more. */
  async round(roundId: string): Promise<void> {
    const { weightVersion } = this.#job.trainer.state;
    const over = new Promise<void>((done, failed) => {
      this.#waiting = { roundId, left: new Set(['round.drained', 'pipeline.measured']), done, failed };
    });
    this.#session.send('round.requested', { roundId, weightVersion });
    await over;
  }

  async checkpoint(): Promise<Checkpoint> {
    const snapshot = await this.#session.snapshot();
    return { snapshot, cursor: this.#cursor, trainer: this.#job.trainer.state };
  }

  /** The end of this host, in the middle of whatever it does: nobody is told, and the engines generate on. */
  die(): void {
    this.#over.abort();
    this.#session.leave();
    this.#running.clear();
  }

  #carryOut(decision: Decision): void {
    const { roundId, requestId, updateId, publicationId } = decision as unknown as Record<string, string>;
    switch (decision.type) {
      case 'prompts.request':
        return this.#supply(roundId!, decision.count as number);
      case 'request.launch':
        return void this.#generate(decision as unknown as Launch);
      case 'request.abort':
        return void this.#running.get(requestId!)?.engine.abort(requestId!);
      case 'response.accepted':
        return this.#reward(requestId!);
      case 'train.dispatch':
        return void this.#train(updateId!, decision.groups as string[], decision.tokens as number);
      case 'optimizer.step':
        this.#job.trainer.step(updateId!);
        return this.#session.send('optimizer.stepped', { roundId, updateId });
      case 'weights.publish':
        return void this.#publish(roundId!, publicationId!);
      case 'round.completed':
        this.completed = decision as unknown as { kind: string; deferred: number };
        return;
      case 'round.drained':
      case 'pipeline.measured':
        this.#waiting?.left.delete(decision.type);
        if (this.#waiting?.left.size === 0) this.#waiting.done();
    }
  }

  #supply(roundId: string, count: number): void {
    const taken = this.#job.prompts.slice(this.#cursor, this.#cursor + count);
    this.#cursor += taken.length;
    this.#session.send('prompts.supplied', { roundId, prompts: taken.map((promptId) => ({ promptId })) });
    if (this.#cursor === this.#job.prompts.length) this.#session.send('source.exhausted', {});
  }

  async #generate({ requestId, promptId, engineId, index }: Launch): Promise<void> {
    const engine = this.#job.engines.find((one) => one.engineId === engineId)!;
    const stop = new AbortController();
    this.#running.set(requestId, { engine, promptId, stop });
    appendFileSync(this.#job.launches, `${engineId} ${requestId}\n`);
    try {
      const { ending, tokens } = await engine.generate(requestId, promptId, index, stop.signal);
      if (!this.#running.delete(requestId)) return;
      this.#promptOf.set(requestId, { promptId, tokens });
      if (ending === 'abort') this.#session.send('request.aborted', { requestId, tokens });
      else this.#session.send('response.completed', { requestId, tokens });
    } catch {
      if (!this.#running.has(requestId)) return;
      if (!(await engine.isHealthy())) return this.#lose(engine);
      this.#running.delete(requestId);
      this.#session.send('response.failed', { requestId, kind: 'infrastructure' });
    }
  }

  /** An engine is gone with all that ran on it; when it is back it gets the weights, and takes part again. */
  #lose(engine: Engine): void {
    if (!engine.isUp || this.#over.signal.aborted) return;
    engine.isUp = false;
    for (const [requestId, one] of this.#running) if (one.engine === engine) this.#running.delete(requestId);
    this.#session.send('engine.lost', { engineId: engine.engineId });
    void engine.comesBack(this.#over.signal).then(async () => {
      await engine.updateWeights(this.#job.trainer.state.weightVersion);
      engine.isUp = true;
      this.#session.send('engine.added', { engineId: engine.engineId });
    });
  }

  #reward(requestId: string): void {
    const { promptId, tokens } = this.#promptOf.get(requestId)!;
    this.#session.send('reward.ready', { requestId, reward: this.#job.rewardOf(promptId, tokens) });
  }

  async #train(updateId: string, groups: readonly string[], tokens: number): Promise<void> {
    const seconds = await this.#job.trainer.accumulate(updateId, groups, tokens);
    if (!this.#over.signal.aborted) this.#session.send('update.consumed', { updateId, groups, seconds });
  }

  async #publish(roundId: string, publicationId: string): Promise<void> {
    const weightVersion = this.#job.trainer.publish();
    await Promise.all(this.#job.engines.map((one) => (one.isUp ? one.updateWeights(weightVersion) : undefined)));
    if (this.#over.signal.aborted) return;
    this.#session.send('weights.published', { roundId, publicationId, weightVersion });
  }
}

interface Launch {
  readonly requestId: string;
  readonly promptId: string;
  readonly engineId: string;
  readonly index: number;
}
