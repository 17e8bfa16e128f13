/** Reads the timed requests of a log, and the engines that they ran on. */
import type { ReadLine } from '../../logs/format/decision-log.ts';
import type { TimedRequest } from './from-requests.ts';

/** The requests of a session of a log that have ended complete. */
export interface TimedLog {
  readonly requests: readonly TimedRequest[];
  /** Most engines at once, as the host has told; undefined if it has told of none. */
  readonly engines: number | undefined;
}

interface Launched {
  readonly startSeconds: number;
  readonly keptTokens: number;
  readonly promptTokens: number;
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

class Reader {
  readonly requests: TimedRequest[] = [];
  engines = 0;
  readonly #launched = new Map<unknown, Launched>();
  readonly #promptTokens = new Map<unknown, number>();
  readonly #up = new Set<unknown>();

  event(event: Readonly<Record<string, unknown>>, decisions: readonly Readonly<Record<string, unknown>>[]): void {
    this.#happened(event);
    for (const one of decisions) if (one.type === 'request.launch') this.#launch(one);
  }

  #happened(event: Readonly<Record<string, unknown>>): void {
    switch (event.type) {
      case 'prompts.supplied':
      case 'round.opened':
        if (!Array.isArray(event.prompts)) return;
        for (const { promptId, promptTokens } of event.prompts)
          this.#promptTokens.set(promptId, numberOf(promptTokens) ?? 0);
        break;
      case 'engine.added':
        this.#up.add(event.engineId);
        this.engines = Math.max(this.engines, this.#up.size);
        break;
      case 'engine.lost':
        this.#up.delete(event.engineId);
        break;
      // The engine took the request now: before, it waited for a place.
      case 'request.started': {
        const launched = this.#launched.get(event.requestId);
        if (launched !== undefined)
          this.#launched.set(event.requestId, { ...launched, startSeconds: event.at as number });
        break;
      }
      case 'response.completed':
        this.#end(event, numberOf(event.tokens));
        break;
      case 'request.aborted':
      case 'response.failed':
        this.#end(event, undefined);
        break;
      default:
    }
  }

  #launch({ requestId, promptId, at, resumeFrom }: Readonly<Record<string, unknown>>): void {
    const keptTokens = numberOf((resumeFrom as { tokens?: unknown } | undefined)?.tokens) ?? 0;
    const promptTokens = this.#promptTokens.get(promptId) ?? 0;
    this.#launched.set(requestId, { startSeconds: at as number, keptTokens, promptTokens });
  }

  #end({ requestId, at }: Readonly<Record<string, unknown>>, tokens: number | undefined): void {
    const launched = this.#launched.get(requestId);
    if (launched === undefined) return;
    this.#launched.delete(requestId);
    const { startSeconds, keptTokens, promptTokens } = launched;
    this.requests.push({
      startSeconds,
      endSeconds: at as number,
      contextTokens: promptTokens + keptTokens,
      // Requests that have not ended by themselves only run beside others.
      tokens: Math.max(0, (tokens ?? 0) - keptTokens),
    });
  }
}

/**
 * Reads the requests of a log.
 *
 * @param session - the session to read; the first if absent
 */
export function timedLog(lines: Iterable<ReadLine>, session?: string): TimedLog {
  const reader = new Reader();
  let only = session;
  for (const { line } of lines) {
    if (line === 'torn' || !('session' in line)) continue;
    only ??= line.session;
    if (line.kind === 'event' && line.session === only) reader.event(line.event, line.decisions);
  }
  return { requests: reader.requests, engines: reader.engines === 0 ? undefined : reader.engines };
}
