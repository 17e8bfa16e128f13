/**
 * A job that runs: mock engines behind HTTP, and a host that carries out what tail batching decides in a session of a live server. It
 * gets stuck when it is told to.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { SglangClient } from '../../../examples/10-frontier-http/sglang-client.ts';
import type { RunningMockEngine } from '../../../src/mock-engine/start.ts';
import { startMockEngine } from '../../../src/mock-engine/start.ts';
import { costOf, countingWorkload, promptly } from '../mock-engine/cluster.ts';
import { Gone, type LineClient } from './line-client.ts';
import type { LiveServer } from './live-server.ts';

/** A decision, with the fields that those which are carried out have. */
interface Decision {
  readonly type: string;
  readonly roundId: string;
  readonly requestId: string;
  readonly promptId: string;
  readonly engineId: string;
  readonly timerId: string;
  readonly fireAtSeconds: number;
  readonly count: number;
}

export interface LiveJobOptions {
  readonly session?: string;
  /** What ids begin with; a number follows. */
  readonly names?: { readonly prompt: string; readonly round: string; readonly engine: string };
  readonly config?: object;
  /** Seconds by which the clock of the host is behind that of the server: whatever waits has waited so much longer. */
  readonly behind?: number;
}

const usualConfig = {
  promptsPerRound: 3,
  responsesPerPrompt: 2,
  promptSpeculation: 1.4,
  placement: 'policy',
  filter: 'zero-variance',
  // An abort that comes before its request is missed by the engine.
  abortGraceSeconds: 1,
};
const plainNames = { prompt: 'p', round: 'r', engine: 'e' };
/** Simulated seconds of an engine in one of the wall clock; a step takes 0.02 of them. */
const speed = 10;

export class LiveJob {
  readonly session: string;
  readonly mock: RunningMockEngine;
  /** Whether the responses of a prompt get rewards. */
  isRewarded: (promptId: string) => boolean = () => true;
  /** Whether the host takes no notice of engines that are gone. */
  swallows = false;
  /** Refusals that the host was given. */
  readonly refusals: string[] = [];
  readonly #server: LiveServer;
  readonly #options: LiveJobOptions;
  readonly #engines: ReadonlyMap<string, SglangClient>;
  readonly #running = new Map<string, string>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #over = new AbortController();
  #client!: LineClient;
  readonly #behind: number;
  #latest = 0;
  #queue: object[] = [];
  #sent = 0;
  #pumping: Promise<void> | undefined;
  #life = 0;
  #prompts = 0;
  #rounds = 0;
  #drained: (() => void) | undefined;

  private constructor(server: LiveServer, mock: RunningMockEngine, options: LiveJobOptions) {
    this.#server = server;
    this.mock = mock;
    this.#options = options;
    this.session = options.session ?? 'job';
    this.#behind = options.behind ?? 0;
    this.#engines = new Map(mock.engineUrls.map((url, at) => [this.name('engine', at), new SglangClient(url)]));
  }

  /** Starts engines, opens a session, and tells it of the engines. */
  static async start(server: LiveServer, options: LiveJobOptions = {}): Promise<LiveJob> {
    const mock = await startMockEngine({
      cost: costOf({ memoryBoundSeconds: 0.02 }),
      workload: countingWorkload,
      options: { ...promptly, engines: 2, speed },
    });
    const job = new LiveJob(server, mock, options);
    await job.open();
    return job;
  }

  name(kind: keyof typeof plainNames, number: number): string {
    return `${(this.#options.names ?? plainNames)[kind]}${number}`;
  }

  /** The time of the host. */
  get now(): number {
    this.#latest = Math.max(this.#latest, Date.now() / 1000 - this.#behind);
    return this.#latest;
  }

  /** Whether it has nothing to send: no event waits, and no timer is set. */
  get isQuiet(): boolean {
    return this.#queue.length === 0 && this.#timers.size === 0;
  }

  /** Opens the session, or opens it anew after {@link close}. */
  async open(): Promise<void> {
    this.#life += 1;
    this.#sent = 0;
    this.#client = await this.#server.connect();
    await this.#client.call('session.open', {
      session: this.session,
      policy: 'tail-batching',
      config: { ...usualConfig, ...this.#options.config, idPrefix: `${this.#life}:` },
    });
    for (const engineId of this.#engines.keys()) await this.send({ type: 'engine.added', engineId });
  }

  /** Closes the session. What runs on the engines is forgotten. */
  async close(): Promise<void> {
    this.#running.clear();
    await this.#client.call('session.close', { session: this.session });
    this.#client.end();
  }

  /** Sends an event, whose decisions are carried out. Resolves when it is answered. */
  async send(event: object): Promise<void> {
    this.#queue.push({ at: this.now, ...event });
    this.#pumping ??= this.#pump();
    await this.#pumping;
  }

  /** Runs rounds one after the other. */
  async rounds(count: number): Promise<void> {
    for (let left = count; left > 0; left -= 1) await this.round().drained;
  }

  /** Begins a round. */
  round(): { readonly id: string; readonly drained: Promise<void> } {
    const id = this.name('round', this.#rounds++);
    const drained = new Promise<void>((resolve) => (this.#drained = resolve));
    void this.send({ type: 'round.requested', roundId: id, weightVersion: this.#rounds });
    return { id, drained };
  }

  /** An engine dies, with all that runs on it. */
  crash(engine: number): void {
    this.mock.cluster.fault({ fault: 'crash', engine });
  }

  async stop(): Promise<void> {
    this.#over.abort();
    for (const one of this.#timers) clearTimeout(one);
    await this.mock.stop();
    this.#client.end();
  }

  async #pump(): Promise<void> {
    while (this.#queue.length > 0 && !this.#over.signal.aborted) {
      const [event] = this.#queue;
      const call = { session: this.session, producer: `life-${this.#life}`, firstSeq: this.#sent, events: [event] };
      const answer = await this.#client.reply('session.send', call).catch(async (error) => {
        if (!(error instanceof Gone)) throw error;
        await this.#reconnect();
      });
      if (answer === undefined) continue;
      this.#queue.shift();
      if (answer.error !== undefined) this.refusals.push(answer.error.message);
      else this.#sent += 1;
      for (const decision of answer.result?.decisions ?? []) this.#carryOut(decision);
    }
    this.#pumping = undefined;
  }

  async #reconnect(): Promise<void> {
    while (!this.#over.signal.aborted) {
      try {
        this.#client = await this.#server.connect();
        return;
      } catch {
        await sleep(20);
      }
    }
  }

  #carryOut(decision: Decision): void {
    const { type, roundId, requestId, count } = decision;
    if (type === 'prompts.request') {
      const prompts = Array.from({ length: count }, () => ({ promptId: this.name('prompt', this.#prompts++) }));
      void this.send({ type: 'prompts.supplied', roundId, prompts });
    } else if (type === 'request.launch') void this.#generate(decision);
    else if (type === 'request.abort') {
      const at = this.#running.get(requestId);
      if (at !== undefined)
        void this.#engines
          .get(at)!
          .abort(requestId)
          .catch(() => this.#lost(at));
    } else if (type === 'timer.set') this.#setTimer(decision);
    else if (type === 'round.drained') this.#drained?.();
  }

  #setTimer({ timerId, fireAtSeconds }: Decision): void {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        // A timer may come a little early: what follows is not to be before it.
        this.#latest = Math.max(this.#latest, fireAtSeconds);
        void this.send({ type: 'timer.fired', timerId });
      },
      1000 * Math.max(0, fireAtSeconds - this.now),
    );
    this.#timers.add(timer);
  }

  async #generate({ requestId, promptId, engineId }: Decision): Promise<void> {
    this.#running.set(requestId, engineId);
    // The mock engine takes a number for a prompt of so many tokens.
    const sample = Number(/\/(\d+)#/.exec(requestId)?.[1] ?? 0);
    const number = Number(/\d+$/.exec(promptId)?.[0] ?? 0);
    const text = String(20 + ((number * 37 + sample * 11) % 60));
    const ask = { requestId, text, maxNewTokens: 900, samplingSeed: sample };
    try {
      const { ending, tokens } = await this.#engines.get(engineId)!.generate(ask, this.#over.signal);
      if (!this.#running.delete(requestId)) return;
      if (ending === 'abort') return void this.send({ type: 'request.aborted', requestId, tokens });
      void this.send({ type: 'response.completed', requestId, tokens });
      if (this.isRewarded(promptId)) void this.send({ type: 'reward.ready', requestId, reward: sample % 2 });
    } catch {
      if (this.#running.delete(requestId)) this.#lost(engineId);
    }
  }

  #lost(engineId: string): void {
    if (this.swallows || this.#over.signal.aborted) return;
    for (const [requestId, at] of this.#running) if (at === engineId) this.#running.delete(requestId);
    void this.send({ type: 'engine.lost', engineId });
  }
}
