/** The host of a policy: it carries out commands on your engines, and reports what happened. */

import type { PromptsRequest, RequestAbort, RequestLaunch, TimerSet } from 'rollflex/schemas';
import type { TailBatchingEvent } from 'rollflex/tail-batching';
import type { Engine } from './engine.ts';

/** Seconds on one clock, as every event has them. */
export const now = (): number => performance.now() / 1000;

export class Host {
  readonly #engine: Engine;
  readonly #nextPrompt: () => string | undefined;
  readonly #report: (event: TailBatchingEvent) => void;
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  /**
   * @param nextPrompt - gives the id of the next prompt of your data; undefined at its end
   * @param report - sends an event to the policy
   */
  constructor(engine: Engine, nextPrompt: () => string | undefined, report: (event: TailBatchingEvent) => void) {
    this.#engine = engine;
    this.#nextPrompt = nextPrompt;
    this.#report = report;
  }

  /** One function for every command: if one is missing, `policy.handle` does not compile. */
  readonly handlers = {
    'prompts.request': ({ roundId, count }: PromptsRequest): void => {
      const ids = Array.from({ length: count }, () => this.#nextPrompt()).filter((id) => id !== undefined);
      const prompts = ids.map((promptId) => ({ promptId }));
      if (prompts.length > 0) this.#report({ type: 'prompts.supplied', at: now(), roundId, prompts });
      if (prompts.length < count) this.#report({ type: 'source.exhausted', at: now() });
    },
    'request.launch': ({ requestId }: RequestLaunch): void => {
      void this.#engine.generate(requestId).then(
        (tokens) => {
          if (tokens !== undefined) this.#report({ type: 'response.completed', at: now(), requestId, tokens });
        },
        (error: unknown) => {
          const message = String(error);
          this.#report({ type: 'response.failed', at: now(), requestId, kind: 'infrastructure', message });
        },
      );
    },
    'request.abort': ({ requestId }: RequestAbort): void => {
      const tokens = this.#engine.abort(requestId);
      this.#report({ type: 'request.aborted', at: now(), requestId, tokens });
    },
    'timer.set': ({ timerId, fireAtSeconds }: TimerSet): void => {
      clearTimeout(this.#timers.get(timerId));
      const fire = (): void => this.#report({ type: 'timer.fired', at: Math.max(fireAtSeconds, now()), timerId });
      this.#timers.set(timerId, setTimeout(fire, 1000 * (fireAtSeconds - now())));
    },
    // Only with turns, filters or rewards, which this host does not have.
    'request.resume': (): void => {},
    'reward.request': (): void => {},
    'judgement.request': (): void => {},
  };

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }
}
