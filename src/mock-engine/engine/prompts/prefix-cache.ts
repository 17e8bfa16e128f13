/**
 * The prefix cache of one engine, in blocks, as vLLM keeps it: the blocks of running requests and, in the remaining KV cache, the
 * blocks of ended requests, least recently used last.
 *
 * A block is never there without the blocks before it: these are used whenever the block is used, and evicted after it.
 */
import type { PrefixCache } from '../../../sim/engine/batch-scheduler.ts';
import { blockTokens, type Prefix } from './prefix.ts';

interface Block {
  readonly name: number;
  /** Number of requests in the batch that use the block. */
  pins: number;
  /** Whether an ended request has left the block here. */
  isCached: boolean;
  older: Block | undefined;
  newer: Block | undefined;
}

interface Asked {
  readonly prefix: Prefix;
  readonly promptTokens: number;
  /** Blocks of the prompt while the request is in the batch. */
  blocks: readonly Block[] | undefined;
  cachedTokens: number;
}

/** The blocks that an engine has. */
export class BlockCache implements PrefixCache {
  readonly #blocks = new Map<number, Block>();
  readonly #asked = new Map<string, Asked>();
  #oldest: Block | undefined;
  #newest: Block | undefined;
  /** Kept blocks that no running request has. */
  #idle = 0;

  /** Tokens kept for possible later requests. */
  get idleTokens(): number {
    return this.#idle * blockTokens;
  }

  /** Names the prompt of a request that will join. */
  expect(requestId: string, prefix: Prefix, promptTokens: number): void {
    this.#asked.set(requestId, { prefix, promptTokens, blocks: undefined, cachedTokens: 0 });
  }

  /** Prompt tokens that were found in the cache when the request joined. */
  cachedTokens(requestId: string): number {
    return this.#asked.get(requestId)?.cachedTokens ?? 0;
  }

  trim(roomTokens: number): void {
    while (this.idleTokens > Math.max(0, roomTokens)) {
      const block = this.#oldest!;
      this.#unlink(block);
      if (block.pins > 0) continue;
      this.#blocks.delete(block.name);
      this.#idle -= 1;
    }
  }

  join(requestId: string): number {
    const asked = this.#asked.get(requestId)!;
    const { blocks: names } = asked.prefix;
    // At least one token is computed, because the next token follows from it.
    const most = Math.floor((asked.promptTokens - 1) / blockTokens);
    asked.cachedTokens = Math.min(this.#found(names), most) * blockTokens;
    asked.blocks = names.map((name) => {
      const block = this.#blockOf(name);
      if (block.pins === 0 && block.isCached) this.#idle -= 1;
      block.pins += 1;
      return block;
    });
    return asked.cachedTokens;
  }

  leave(requestId: string): void {
    const asked = this.#asked.get(requestId)!;
    for (const block of asked.blocks ?? []) {
      block.pins -= 1;
      if (block.pins > 0) continue;
      if (block.isCached) this.#idle += 1;
      else this.#blocks.delete(block.name);
    }
    asked.blocks = undefined;
    asked.cachedTokens = 0;
  }

  /** Ends a request. If the request was in the batch, its prompt and its generated extension are kept. */
  end(requestId: string): void {
    const { blocks, prefix } = this.#asked.get(requestId)!;
    this.#asked.delete(requestId);
    if (blocks === undefined) return;
    const names = prefix.blocks;
    for (let at = names.length - 1; at >= 0; at -= 1) {
      const block = blocks[at] ?? this.#blockOf(names[at]!);
      if (at < blocks.length) block.pins -= 1;
      else if (block.pins === 0 && block.isCached) this.#idle -= 1;
      this.#unlink(block);
      this.#append(block);
      if (block.pins === 0) this.#idle += 1;
    }
  }

  /** Forgets a lost request with its blocks. */
  drop(requestId: string): void {
    this.leave(requestId);
    this.#asked.delete(requestId);
  }

  /** Forgets blocks that no running request uses. */
  clear(): void {
    this.trim(0);
  }

  /** Returns how many blocks are cached, counted from the first block. */
  #found(names: readonly number[]): number {
    let [from, to] = [0, names.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.#blocks.has(names[middle]!)) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  #blockOf(name: number): Block {
    const known = this.#blocks.get(name);
    if (known !== undefined) return known;
    const block = { name, pins: 0, isCached: false, older: undefined, newer: undefined };
    this.#blocks.set(name, block);
    return block;
  }

  #append(block: Block): void {
    block.isCached = true;
    block.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = block;
    else this.#newest.newer = block;
    this.#newest = block;
  }

  #unlink(block: Block): void {
    if (!block.isCached) return;
    const { older, newer } = block;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    block.isCached = false;
    block.older = undefined;
    block.newer = undefined;
  }
}
