/** Contexts that an engine keeps between chunks, in what its batch leaves of the KV cache: the least recently used leave first. */
import type { PrefixCache } from '../../engine/batch-scheduler.ts';

/** The prefix cache of an engine whose requests come in chunks. */
export class ChunkCache implements PrefixCache {
  /** Tokens of each context, the least recently used first. Those that run are in the batch, too, and take no room here. */
  readonly #contextTokens = new Map<string, number>();
  readonly #running = new Set<string>();
  #idleTokens = 0;

  /** A chunk has ended, or a context was loaded from another engine: these tokens are here. */
  keep(requestId: string, tokens: number): void {
    this.forget(requestId);
    this.#contextTokens.set(requestId, tokens);
    this.#idleTokens += tokens;
  }

  /** A context is not needed any more. */
  forget(requestId: string): void {
    const tokens = this.#contextTokens.get(requestId);
    if (tokens === undefined) return;
    if (!this.#running.delete(requestId)) this.#idleTokens -= tokens;
    this.#contextTokens.delete(requestId);
  }

  trim(roomTokens: number): void {
    if (this.#idleTokens <= roomTokens) return;
    for (const requestId of this.#contextTokens.keys()) {
      if (this.#running.has(requestId)) continue;
      this.forget(requestId);
      if (this.#idleTokens <= roomTokens) return;
    }
  }

  join(requestId: string): number {
    const tokens = this.#contextTokens.get(requestId);
    if (tokens === undefined) return 0;
    this.#running.add(requestId);
    this.#idleTokens -= tokens;
    // The last token is always computed.
    return Math.max(0, tokens - 1);
  }

  leave(requestId: string): void {
    if (this.#running.delete(requestId)) this.#idleTokens += this.#contextTokens.get(requestId)!;
  }
}
