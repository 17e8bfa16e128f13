/** Follows deferred work: prompts that wait for a later round, and requests that wait to be admitted. */
import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';
import { Gauge } from './bins.ts';

/** Something that was put off. */
export interface Deferred {
  readonly id: string;
  readonly what: 'prompt' | 'request';
  /** Time of the first deferral, in seconds. */
  readonly since: number;
  /** Number of deferrals, if known. */
  readonly times: number | undefined;
  /** Round of the latest deferral. */
  readonly roundId: string | undefined;
}

/** Most prompts that are followed. */
const most = 65_536;
/** Messages that end a deferral: the prompt begins again, or leaves. */
const ends: ReadonlySet<string> = new Set([
  'prompt.counted',
  'prompt.failed',
  'prompt.filtered',
  'prompt.merged',
  'prompt.returned',
  'request.admit',
  'request.dropped',
  'request.launch',
]);

type PromptMessage = AnyEvent & {
  readonly prompt?: { readonly promptId: string; readonly deferral?: { count: number; sinceSeconds: number } };
  readonly promptId?: string;
  readonly requestId?: string;
  readonly roundId?: string;
  readonly queued?: readonly { readonly promptId: string }[];
};

export class DeferredThings {
  /** Deferred prompts in the order of their latest deferral. */
  readonly all = new Map<string, Deferred>();
  /** Number of deferred prompts. */
  readonly queue = new Gauge();

  follow(event: AnyEvent, decisions: readonly AnyDecision[], at: number): void {
    this.#take(event as PromptMessage, at);
    for (const one of decisions) this.#take(one as unknown as PromptMessage, at);
    if (this.queue.value !== this.all.size) this.queue.set(at, this.all.size);
  }

  /** Returns the prompts that were deferred first. */
  oldest(most: number): Deferred[] {
    return [...this.all.values()].sort((a, b) => a.since - b.since).slice(0, most);
  }

  forget(at: number): void {
    this.all.clear();
    this.queue.set(at, 0);
  }

  #take(message: PromptMessage, at: number): void {
    const { type, prompt, roundId } = message;
    if (type === 'prompt.deferred' && prompt !== undefined) {
      const { count, sinceSeconds } = prompt.deferral ?? {};
      this.#add({ id: prompt.promptId, what: 'prompt', since: sinceSeconds ?? at, times: count, roundId });
    } else if (type === 'request.deferred' && message.requestId !== undefined) {
      this.#add({ id: message.requestId, what: 'request', since: at, times: undefined, roundId });
    } else if (type === 'round.planned' || type === 'prompts.released') {
      for (const { promptId } of message.queued ?? []) this.all.delete(promptId);
    } else if (this.all.size > 0 && ends.has(type)) {
      const id = message.promptId ?? prompt?.promptId;
      if (id !== undefined) this.all.delete(id);
      if (message.requestId !== undefined) this.all.delete(message.requestId);
    }
  }

  #add(one: Deferred): void {
    this.all.delete(one.id);
    if (this.all.size < most) this.all.set(one.id, one);
  }
}
