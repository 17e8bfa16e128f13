/**
 * The KV cache of an engine as a radix tree: contexts that begin alike share their common beginning. A context is a chain of
 * nodes. Each node follows only one other node, so its key identifies it. Running turns pin their chains. Unpinned nodes stay
 * until room is needed: the least recently used node goes first, token by token from its end.
 */
import { type Linked, LinkedList } from '../../core/collections/linked-list.ts';

/** A node of a context: the same key stands for the same tokens after the same nodes. */
export interface ContextNode {
  readonly key: string;
  /** Tokens, >= 0. */
  readonly tokens: number;
}

/** A node in the cache of an engine. */
export interface CachedNode extends Linked<CachedNode> {
  readonly key: string;
  /** Tokens of the whole node. */
  tokens: number;
  /** Computed tokens of the node, from its beginning. */
  resident: number;
  /** Number of running turns that pin the node. */
  pins: number;
}

/** The nodes that an engine keeps. */
export class PrefixCache {
  /** Tokens of pinned nodes, whose room is reserved, computed or not. */
  pinnedTokens = 0;
  /** Computed tokens of nodes that no running turn pins. */
  cachedTokens = 0;
  readonly #keeps: boolean;
  readonly #nodes = new Map<string, CachedNode>();
  /** Unpinned nodes. A node is always later in this list than the nodes that follow it in a chain. */
  readonly #unused = new LinkedList<CachedNode>();

  /** @param keeps - whether nodes stay that nobody pins */
  constructor(keeps: boolean) {
    this.#keeps = keeps;
  }

  /** All nodes in the cache. */
  get nodes(): Iterable<CachedNode> {
    return this.#nodes.values();
  }

  /** Returns the number of tokens that would be pinned in addition. */
  missing(context: readonly ContextNode[]): number {
    let tokens = 0;
    for (const node of context) if ((this.#nodes.get(node.key)?.pins ?? 0) === 0) tokens += node.tokens;
    return tokens;
  }

  /** Pins a context, and returns its nodes in order. */
  pin(context: readonly ContextNode[]): CachedNode[] {
    return context.map(({ key, tokens }) => {
      let node = this.#nodes.get(key);
      if (node === undefined) {
        node = { key, tokens, resident: 0, pins: 0, previous: null, next: null };
        this.#nodes.set(key, node);
      } else if (node.pins === 0) {
        this.#unused.remove(node);
        this.cachedTokens -= node.resident;
      }
      if (node.pins === 0) {
        node.tokens = tokens;
        node.resident = Math.min(node.resident, tokens);
        this.pinnedTokens += tokens;
      }
      node.pins += 1;
      return node;
    });
  }

  /** Adds computed tokens to a pinned node. */
  grow(node: CachedNode, tokens: number): void {
    node.tokens += tokens;
    node.resident += tokens;
    this.pinnedTokens += tokens;
  }

  /** Undoes one call of `pin`. */
  unpin(nodes: readonly CachedNode[]): void {
    for (let index = nodes.length - 1; index >= 0; index -= 1) {
      const node = nodes[index]!;
      node.pins -= 1;
      if (node.pins > 0) continue;
      this.pinnedTokens -= node.tokens;
      if (!this.#keeps || node.resident === 0) this.#nodes.delete(node.key);
      else {
        this.cachedTokens += node.resident;
        this.#unused.push(node);
      }
    }
  }

  /** Evicts unpinned parts until the rest fits so many tokens, or nothing is left to evict. */
  fit(capacityTokens: number): void {
    let excess = this.pinnedTokens + this.cachedTokens - capacityTokens;
    for (let node = this.#unused.peek(); node !== undefined && excess > 0; node = this.#unused.peek()) {
      const tokens = Math.min(excess, node.resident);
      node.resident -= tokens;
      this.cachedTokens -= tokens;
      excess -= tokens;
      if (node.resident > 0) continue;
      this.#unused.remove(node);
      this.#nodes.delete(node.key);
    }
  }
}
