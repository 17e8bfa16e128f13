/// <reference lib="dom" />
/**
 * Some simulators side by side, each in a worker of its own. The newest settings go to the first that is free; what was
 * asked for and never begun is skipped, and results that come after newer ones are left out.
 */
import type { Settings } from './settings/fields.ts';
import type { ViewId } from './settings/views.ts';
import type { FromWorker, Load, ToWorker } from './worker/messages.ts';
import SimulatorWorker from './worker/worker.ts?worker&inline';

type Request = Extract<ToWorker, { type: 'simulate' }>;

interface Member {
  readonly worker: Worker;
  /** The request that it works on; `answered` once it has a first result, and only makes it better. */
  at?: { readonly id: number; answered: boolean };
}

/** What the pool says. */
export interface PoolListener {
  answer(message: Extract<FromWorker, { type: 'result' | 'failed' }>): void;
  loaded(message: Extract<FromWorker, { type: 'loaded' | 'refused' }>): void;
  stopped(message: string): void;
}

/** One core is for the page, which draws. More than four would rarely be seen: a screen shows 60 results a second. */
const mostWorkers = Math.min(4, Math.max(1, (navigator.hardwareConcurrency || 2) - 1));

export class SimulatorPool {
  readonly #listener: PoolListener;
  readonly #members: Member[] = [];
  #waiting: Request | undefined;
  #count = 0;
  #newestAnswer = 0;
  /** The trace that is loaded, for workers that start later. */
  #own: Load | undefined;
  #trying: Load | undefined;

  constructor(listener: PoolListener) {
    this.#listener = listener;
    this.#start();
  }

  /** Asks for a simulation; gives its number. Numbers ascend. */
  simulate(view: ViewId, settings: Settings): number {
    this.#count += 1;
    this.#waiting = { type: 'simulate', id: this.#count, view, settings: { ...settings } };
    this.#dispatch();
    return this.#count;
  }

  /** Has a trace read, by one simulator; where it can be read, the others get it as well. */
  load(load: Load): void {
    this.#trying = load;
    this.#members[0]!.worker.postMessage(this.#trying);
  }

  #start(): Member {
    const member: Member = { worker: new SimulatorWorker() };
    const isFirst = this.#members.length === 0;
    member.worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) =>
      this.#hear(member, data, isFirst),
    );
    member.worker.addEventListener('error', ({ message }) => this.#listener.stopped(message));
    if (this.#own !== undefined) member.worker.postMessage(this.#own);
    this.#members.push(member);
    return member;
  }

  #hear(member: Member, message: FromWorker, isFirst: boolean): void {
    if (message.type === 'loaded' || message.type === 'refused') {
      if (!isFirst) return;
      if (message.type === 'loaded') {
        this.#own = this.#trying;
        for (const { worker } of this.#members.slice(1)) worker.postMessage(this.#own);
      }
      this.#listener.loaded(message);
      return;
    }
    if (member.at?.id === message.id) {
      if (message.type === 'idle') delete member.at;
      else member.at.answered = true;
    }
    if (message.type !== 'idle' && message.id >= this.#newestAnswer) {
      this.#newestAnswer = message.id;
      this.#listener.answer(message);
    }
    this.#dispatch();
  }

  #dispatch(): void {
    const request = this.#waiting;
    if (request === undefined) return;
    const free =
      this.#members.find((one) => one.at === undefined) ??
      this.#members.find((one) => one.at!.answered) ??
      this.#more();
    // Older requests are not needed any more: what takes long is given up, what is nearly done is still shown.
    for (const one of this.#members) {
      if (one !== free && one.at !== undefined) one.worker.postMessage({ type: 'stop' } satisfies ToWorker);
    }
    if (free === undefined) return;
    this.#waiting = undefined;
    free.at = { id: request.id, answered: false };
    free.worker.postMessage(request);
  }

  /** Another worker, once the first one has shown that it works. */
  #more(): Member | undefined {
    return this.#newestAnswer === 0 || this.#members.length >= mostWorkers ? undefined : this.#start();
  }
}
