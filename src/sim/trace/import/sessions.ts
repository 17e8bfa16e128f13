/**
 * Reads serving traces with block hashes, as Mooncake publishes them: the beginnings of requests reveal sessions of turns, and
 * prefixes that sessions share.
 *
 * A request continues a session if it begins with all whole blocks of the session's last request, and is at least as long as that
 * request with its answer. A block followed by more than {@link mostFollowers} different blocks belongs to a prefix of many
 * sessions, such as a system prompt: a request that ends there cannot be assigned to a session.
 */
import { z } from 'zod';
import { parse } from '../../../core/machine/validate.ts';
import { refuse } from '../../../errors.ts';
import { hasKeys, jsonLine, type TracePrompt, type TraceTurn } from '../format.ts';

const dumpedCount = z.int().nonnegative();

/** Tokens of a block in Mooncake's traces. */
const blockTokens = 512;
/**
 * In Mooncake's conversation trace of 12,031 requests, one block has 7,373 followers, five have 9 to 11, and all others 8 or
 * fewer: one follower per continuation of a session inside the block.
 */
const mostFollowers = 8;

const request = z.object({
  timestamp: z.number().nonnegative(),
  input_length: dumpedCount,
  output_length: dumpedCount,
  hash_ids: z.array(dumpedCount),
});

interface Session {
  readonly blocks: readonly number[];
  readonly promptTokens: number;
  readonly turns: TraceTurn[];
  /** Tokens of the session's last request, with the answer. */
  tokens: number;
  /** Last whole block of the session's last request. */
  end: number | undefined;
}

/** Collects requests, and then returns one prompt per session. */
export class RequestSessions {
  static readonly id = 'mooncake';
  readonly #requests: { readonly input: number; readonly output: number; readonly blocks: readonly number[] }[] = [];
  /** For each block: the blocks that follow it. */
  readonly #followers = new Map<number, Set<number>>();

  /** Whether a file with this first line is such a trace. */
  static detect(firstLine: string): boolean {
    return hasKeys(firstLine, ['timestamp', 'input_length', 'output_length', 'hash_ids']);
  }

  /** Number of requests. */
  get count(): number {
    return this.#requests.length;
  }

  /** Takes the request in a line. Throws `invalid_input` with file, line and field. */
  take(line: string, where: string): void {
    const {
      input_length: input,
      output_length: output,
      hash_ids: ids,
    } = parse(request, jsonLine(line, where), 'invalid_input', where);
    const expected = Math.ceil(input / blockTokens);
    if (ids.length !== expected) {
      refuse('invalid_input', `${where}.hash_ids`, `${expected} blocks of ${blockTokens} tokens`, ids.length);
    }
    this.#requests.push({ input, output, blocks: ids });
    for (let at = 0; at + 1 < ids.length; at += 1) {
      const followers = this.#followers.get(ids[at]!) ?? new Set();
      this.#followers.set(ids[at]!, followers.add(ids[at + 1]!));
    }
  }

  /** Returns each session as a prompt with one response. @param from - number of the first session */
  prompts(from: number): TracePrompt[] {
    const sessions: Session[] = [];
    const endingAt = new Map<number, Session>();
    for (const { input, output, blocks } of this.#requests) {
      const whole = Math.floor(input / blockTokens);
      // An answer without tokens is read as one token.
      const tokens = Math.max(1, output);
      let session = this.#sessionOf(blocks, whole, input, endingAt);
      if (session === undefined) {
        session = { blocks: blocks.slice(0, whole), promptTokens: input, turns: [], tokens: input, end: undefined };
        sessions.push(session);
      } else if (session.end !== undefined) endingAt.delete(session.end);
      const added = input - session.tokens;
      session.turns.push({ ...(session.turns.length === 0 ? undefined : { addedTokens: added }), tokens });
      session.tokens = input + tokens;
      session.end = blocks[whole - 1];
      if (session.end !== undefined && !this.#isShared(session.end)) endingAt.set(session.end, session);
    }
    return this.#named(sessions, from);
  }

  #sessionOf(
    blocks: readonly number[],
    whole: number,
    input: number,
    endingAt: ReadonlyMap<number, Session>,
  ): Session | undefined {
    for (let at = whole - 1; at >= 0; at -= 1) {
      const found = endingAt.get(blocks[at]!);
      if (found !== undefined && found.tokens <= input) return found;
    }
    return undefined;
  }

  #isShared(block: number): boolean {
    return (this.#followers.get(block)?.size ?? 0) > mostFollowers;
  }

  /** Names sessions, and finds the longest prefix that each session shares with another. */
  #named(sessions: readonly Session[], from: number): TracePrompt[] {
    const first = new Map<number, Session>();
    const shared = new Set<number>();
    for (const session of sessions) {
      for (const block of session.blocks) {
        const other = first.get(block);
        if (other === undefined) first.set(block, session);
        else if (other !== session) shared.add(block);
      }
    }
    return sessions.map(({ blocks, promptTokens, turns }, index) => {
      const depth = blocks.findLastIndex((block) => shared.has(block)) + 1;
      return {
        prompt: `session-${from + index}`,
        promptTokens,
        ...(depth === 0
          ? undefined
          : { sharedTokens: depth * blockTokens, environment: `prefix-${blocks[depth - 1]}` }),
        responses: [{ tokens: turns.reduce((sum, turn) => sum + turn.tokens, 0), turns }],
      };
    });
  }
}
