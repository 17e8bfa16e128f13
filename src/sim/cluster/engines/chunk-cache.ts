/**
 * Contexts that an engine keeps between chunks, in the part of the KV cache that its batch leaves free: least recently used
 * contexts leave first.
 */
import type { PrefixCache } from '../../engine/batch-scheduler.ts';

/** The prefix cache of an engine whose requests come in chunks. */
export class ChunkCache implements PrefixCache {
  /** Tokens of each kept context, least recently used first. Running contexts are in the batch, too, and take no room here. */
  readonly #contextTokens = new Map<string, number>();
  readonly #running = new Set<string>();
  #idleTokens = 0;

  /** Keeps these tokens after a chunk has ended, or a context was loaded from another engine. */
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
