/** A trainer of tail batching that speaks to a server: what it would save in a checkpoint is one plain object. */
import { expect } from 'vitest';
import type { WireClient } from './clocked.ts';

/** A decision, with the fields that those which are carried out have. */
interface Decision {
  readonly type: string;
  readonly requestId: string;
  readonly roundId: string;
  readonly timerId: string;
  readonly fireAtSeconds: number;
  readonly count: number;
  readonly prompts: readonly { readonly promptId: string }[];
}

/** All that a checkpoint of the trainer holds, the state of the session aside. */
export interface TrainerState {
  /** Prompts that the loader has given. */
  loaded: number;
  /** Rounds that were trained, each with its prompts. */
  readonly trained: string[][];
}

/** Draws, as a tape gives them. */
export interface Choices {
  below(n: number): number;
}

export const tailConfig = { promptsPerRound: 2, responsesPerPrompt: 2 };

/** One life of the trainer, from a state on. */
export class TailTrainer {
  readonly state: TrainerState;
  readonly #client: WireClient;
  readonly #choices: Choices;
  readonly #prompts: number;
  readonly #flying = new Set<string>();
  readonly #toAbort = new Set<string>();
  readonly #timers = new Map<string, number>();
  #wanted: string | undefined;
  #count = 0;
  #isOpen = false;
  #undrained = 0;
  #at: number;
  #isDrained = false;

  constructor(client: WireClient, choices: Choices, prompts: number, state: TrainerState, at: number) {
    [this.#client, this.#choices, this.#prompts, this.state, this.#at] = [client, choices, prompts, state, at];
  }

  get at(): number {
    return this.#at;
  }

  get steps(): number {
    return this.state.trained.length;
  }

  get isDone(): boolean {
    return this.#isDrained;
  }

  /** Requests that run, for the reports that come after a death. */
  get running(): readonly string[] {
    return [...this.#flying, ...this.#toAbort];
  }

  /** After a restart: what was in flight is gone, and the round that was open is open again. */
  async restarted(idPrefix: string, isOpen: boolean): Promise<void> {
    this.#isOpen = isOpen;
    this.#undrained = isOpen ? 1 : 0;
    await this.send({ type: 'host.restarted', idPrefix });
  }

  /** Whether a round is open; a checkpoint says so. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** One thing that happens. */
  async step(): Promise<void> {
    const roundId = `step-${this.steps}`;
    const doings: (() => Promise<void>)[] = [];
    const abort = this.#one(this.#toAbort);
    if (abort !== undefined) doings.push(() => this.#aborted(abort));
    const flight = this.#one(this.#flying);
    if (flight !== undefined) doings.push(() => this.#completed(flight));
    if (this.#wanted !== undefined) doings.push(() => this.#supply());
    const isFree = !this.#isOpen && this.#undrained === 0;
    if (isFree) doings.push(() => this.send({ type: 'round.requested', roundId, weightVersion: this.steps }));
    if (doings.length > 0) return doings[this.#choices.below(doings.length)]!();
    const timer = [...this.#timers].sort((a, b) => a[1] - b[1])[0];
    if (timer === undefined) throw new Error(`stuck in ${roundId}`);
    this.#timers.delete(timer[0]);
    this.#at = Math.max(this.#at, timer[1]);
    await this.send({ type: 'timer.fired', timerId: timer[0] });
  }

  async send(event: { readonly type: string } & Readonly<Record<string, unknown>>): Promise<void> {
    this.#at += this.#choices.below(3);
    const { decisions } = await this.#client.call('session.send', {
      session: 'job',
      events: [{ at: this.#at, ...event }],
    });
    for (const one of decisions as Decision[]) this.#told(one);
  }

  /** A report of a request of another life: late, or of an id that this one never launched. Nothing comes of it. */
  async lateReport(requestId: string): Promise<void> {
    const events = [{ type: 'response.completed', at: this.#at, requestId, tokens: 5 }];
    const { result, error } = await this.#client.reply('session.send', { session: 'job', events });
    if (error !== undefined) expect(error.data.code).toBe('unknown_id');
    else expect((result!.decisions as Decision[]).map((one) => one.type)).toEqual(['response.late']);
  }

  #one(ids: ReadonlySet<string>): string | undefined {
    return ids.size === 0 ? undefined : [...ids][this.#choices.below(ids.size)];
  }

  async #aborted(requestId: string): Promise<void> {
    this.#toAbort.delete(requestId);
    await this.send({ type: 'request.aborted', requestId });
  }

  async #completed(requestId: string): Promise<void> {
    this.#flying.delete(requestId);
    await this.send({ type: 'response.completed', requestId, tokens: 1 + this.#choices.below(100) });
  }

  async #supply(): Promise<void> {
    const count = Math.min(this.#count, this.#prompts - this.state.loaded);
    const roundId = this.#wanted!;
    this.#wanted = undefined;
    if (count === 0) return this.send({ type: 'source.exhausted' });
    const prompts = Array.from({ length: count }, () => ({ promptId: `p${this.state.loaded++}` }));
    await this.send({ type: 'prompts.supplied', roundId, prompts });
  }

  #told(decision: Decision): void {
    switch (decision.type) {
      case 'round.planned':
        this.#isOpen = true;
        this.#undrained += 1;
        break;
      case 'prompts.request':
        [this.#wanted, this.#count] = [decision.roundId, decision.count];
        break;
      case 'request.launch':
        expect(this.#flying.has(decision.requestId)).toBe(false);
        this.#flying.add(decision.requestId);
        break;
      case 'request.abort':
        expect(this.#flying.delete(decision.requestId)).toBe(true);
        this.#toAbort.add(decision.requestId);
        break;
      case 'request.expired':
        this.#toAbort.delete(decision.requestId);
        break;
      case 'timer.set':
        this.#timers.set(decision.timerId, decision.fireAtSeconds);
        break;
      case 'round.completed':
        this.#isOpen = false;
        this.#wanted = undefined;
        this.state.trained.push(decision.prompts.map((one) => one.promptId));
        break;
      case 'round.drained':
        this.#undrained = Math.max(0, this.#undrained - 1);
        break;
      case 'source.drained':
        this.#isDrained = true;
        break;
      default:
    }
  }
}
