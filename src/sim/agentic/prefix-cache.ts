/**
 * The KV cache of an engine as a radix tree: contexts that begin alike share their common beginning. A context is a chain of
 * parts. Each part follows only one other part, so its key identifies it. Running turns pin their chains. Unpinned parts stay
 * until room is needed: the least recently used part goes first, token by token from its end.
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
  /** Computed tokens of the part, from its beginning. */
  resident: number;
  /** Number of running turns that pin the part. */
  pins: number;
}

/** The parts that an engine keeps. */
export class PrefixCache {
  /** Tokens of pinned parts, whose room is reserved, computed or not. */
  pinnedTokens = 0;
  /** Computed tokens of parts that no running turn pins. */
  cachedTokens = 0;
  readonly #keeps: boolean;
  readonly #parts = new Map<string, CachedPart>();
  /** Unpinned parts. A part is always later in this list than the parts that follow it in a chain. */
  readonly #unused = new LinkedList<CachedPart>();

  /** @param keeps - whether parts stay that nobody pins */
  constructor(keeps: boolean) {
    this.#keeps = keeps;
  }

  /** All parts in the cache. */
  get parts(): Iterable<CachedPart> {
    return this.#parts.values();
  }

  /** Returns the number of tokens that would be pinned in addition. */
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

  /** Undoes one call of `pin`. */
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

  /** Evicts unpinned parts until the rest fits so many tokens, or nothing is left to evict. */
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
