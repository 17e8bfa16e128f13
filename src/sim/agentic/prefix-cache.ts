/**
 * The KV cache of an engine as a radix tree: contexts that begin alike share what they have in common. A context is a chain of
 * parts, each of which follows one other part only, so that a part is known by its key. Running turns pin their chains. What no
 * running turn pins stays until room is needed: the least recently used goes first, token by token from its end.
 */
import { type Linked, LinkedList } from '../../core/collections/linked-list.ts';

/** A part of a context: the same key stands for the same tokens after the same parts. */
export interface ContextPart {
  readonly key: string;
  /** Tokens, >= 0. */
  readonly tokens: number;
}

/** A part in the cache of an engine. */
export interface CachedPart extends Linked<CachedPart> {
  readonly key: string;
  /** Tokens of the whole part. */
  tokens: number;
  /** Those that are computed, from its beginning. */
  resident: number;
  /** Running turns that have it. */
  pins: number;
}

/** The parts that an engine keeps. */
export class PrefixCache {
  /** Tokens of parts that running turns pin; their room is theirs, whether computed or not. */
  pinnedTokens = 0;
  /** Computed tokens of parts that no running turn pins. */
  cachedTokens = 0;
  readonly #keeps: boolean;
  readonly #parts = new Map<string, CachedPart>();
  /** Parts that nobody pins. A part is always later here than those that follow it in a chain. */
  readonly #unused = new LinkedList<CachedPart>();

  /** @param keeps - whether parts stay that nobody pins */
  constructor(keeps: boolean) {
    this.#keeps = keeps;
  }

  /** Parts that it knows. */
  get parts(): Iterable<CachedPart> {
    return this.#parts.values();
  }

  /** Returns the tokens that would be pinned in addition. */
  missing(context: readonly ContextPart[]): number {
    let tokens = 0;
    for (const part of context) if ((this.#parts.get(part.key)?.pins ?? 0) === 0) tokens += part.tokens;
    return tokens;
  }

  /** Pins a context, and returns its parts in order. */
  pin(context: readonly ContextPart[]): CachedPart[] {
    return context.map(({ key, tokens }) => {
      let part = this.#parts.get(key);
      if (part === undefined) {
        part = { key, tokens, resident: 0, pins: 0, previous: null, next: null };
        this.#parts.set(key, part);
      } else if (part.pins === 0) {
        this.#unused.remove(part);
        this.cachedTokens -= part.resident;
      }
      if (part.pins === 0) {
        part.tokens = tokens;
        part.resident = Math.min(part.resident, tokens);
        this.pinnedTokens += tokens;
      }
      part.pins += 1;
      return part;
    });
  }

  /** Adds computed tokens to a pinned part. */
  grow(part: CachedPart, tokens: number): void {
    part.tokens += tokens;
    part.resident += tokens;
    this.pinnedTokens += tokens;
  }

  /** Undoes one `pin`. */
  unpin(parts: readonly CachedPart[]): void {
    for (let index = parts.length - 1; index >= 0; index -= 1) {
      const part = parts[index]!;
      part.pins -= 1;
      if (part.pins > 0) continue;
      this.pinnedTokens -= part.tokens;
      if (!this.#keeps || part.resident === 0) this.#parts.delete(part.key);
      else {
        this.cachedTokens += part.resident;
        this.#unused.push(part);
      }
    }
  }

  /** Evicts what nobody pins, until all fits this many tokens, or nothing is left to evict. */
  fit(capacityTokens: number): void {
    let excess = this.pinnedTokens + this.cachedTokens - capacityTokens;
    for (let part = this.#unused.peek(); part !== undefined && excess > 0; part = this.#unused.peek()) {
      const tokens = Math.min(excess, part.resident);
      part.resident -= tokens;
      this.cachedTokens -= tokens;
      excess -= tokens;
      if (part.resident > 0) continue;
      this.#unused.remove(part);
      this.#parts.delete(part.key);
    }
  }
}
