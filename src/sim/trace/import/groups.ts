/**
 * Groups responses by prompt and step. Only numbers are kept, so that memory grows with the number of responses and not with their
 * text.
 */
import { rowOf, type TracePrompt, type TraceTurn } from '../format.ts';
import type { DumpedResponse } from './dump.ts';

interface Group {
  /** Id of the prompt across steps, unless the group's id contains it. */
  readonly row: string | undefined;
  readonly promptTokens: number | undefined;
  readonly task: string | undefined;
  readonly tokens: number[];
  /** Bits per response: see `flag`. */
  readonly flags: number[];
  /** Numbers of the responses within the prompt, if the dump has them. */
  parts?: number[];
  /** Numbers of the rows so far, if the dump has them. */
  rows?: number[];
  /** Seconds of rewards, if the trace has them. */
  seconds?: (number | undefined)[];
  /** Method that estimated the tokens of a trace. */
  estimated?: string;
  /** Turns of each response, if the dump or the trace has any. */
  turns?: (TraceTurn[] | undefined)[];
  shared?: { readonly environment?: string | undefined; readonly tokens?: number | undefined };
}

const flag = { capped: 1, correctKnown: 2, correct: 4, cappedKnown: 8 } as const;

/** All prompts of a dump, in the order of their first rows. */
export class ResponseGroups {
  readonly #groups = new Map<string, Group>();
  readonly #steps = new Set<number>();
  #responses = 0;
  #capped = 0;
  #saysCapped = false;
  #scored = 0;
  #joined = 0;

  /** Number of prompts; a prompt counts once per step. */
  get prompts(): number {
    return this.#groups.size;
  }

  /** Number of known training steps. */
  get steps(): number {
    return this.#steps.size;
  }

  /** Number of responses; a response that has several rows counts once. */
  get responses(): number {
    return this.#responses;
  }

  /** Number of responses that reached the limit. */
  get capped(): number {
    return this.#capped;
  }

  /** Whether anything says which responses reached the limit. */
  get saysCapped(): boolean {
    return this.#saysCapped;
  }

  /** Marks the responses of at least so many tokens as capped. */
  cap(tokens: number): void {
    for (const group of this.#groups.values()) {
      for (const [at, count] of group.tokens.entries()) {
        if (count >= tokens) this.#mark(group, at, true, undefined);
      }
    }
  }

  /** Number of responses that are known to be correct or wrong. */
  get scored(): number {
    return this.#scored;
  }

  /** Number of rows that were added to an earlier row for the same response. */
  get joined(): number {
    return this.#joined;
  }

  /** Adds a response, or another part of one; returns false for a row that was added before. */
  add(response: DumpedResponse, capped: boolean): boolean {
    const group = this.#groupOf(response);
    const { part, row, correct, turns } = response;
    if (response.truncated !== undefined) this.#saysCapped = true;
    if (row !== undefined) {
      group.rows ??= [];
      if (group.rows.includes(row)) return false;
      group.rows.push(row);
    }
    if (part !== undefined) group.parts ??= group.tokens.map(() => -1);
    const at = part === undefined ? -1 : group.parts!.indexOf(part);
    if (at >= 0) {
      this.#joined += 1;
      group.tokens[at]! += response.tokens;
      if (group.turns !== undefined) group.turns[at] = turns && group.turns[at]?.concat(turns);
      this.#mark(group, at, capped, correct);
      return true;
    }
    this.#responses += 1;
    group.parts?.push(part ?? -1);
    group.flags.push(0);
    this.#mark(group, group.tokens.push(response.tokens) - 1, capped, correct);
    this.#keepTurns(group, turns);
    return true;
  }

  /** Adds a prompt of a trace, with a new id. */
  addPrompt({ prompt, row, promptTokens, task, estimated, responses, environment, sharedTokens }: TracePrompt): void {
    const group: Group = { row, promptTokens, task, tokens: [], flags: [] };
    if (environment !== undefined || sharedTokens !== undefined) group.shared = { environment, tokens: sharedTokens };
    if (estimated !== undefined) group.estimated = estimated;
    this.#groups.set(prompt, group);
    for (const { tokens, turns, correct, capped, rewardSeconds } of responses) {
      this.#responses += 1;
      group.flags.push(capped === undefined ? 0 : flag.cappedKnown);
      // Estimated lengths do not show who was cut, either.
      if (capped !== undefined || estimated !== undefined) this.#saysCapped = true;
      this.#mark(group, group.tokens.push(tokens) - 1, capped === true, correct);
      this.#keepTurns(group, turns);
      if (rewardSeconds === undefined) continue;
      group.seconds ??= [];
      group.seconds[group.tokens.length - 1] = rewardSeconds;
    }
  }

  /** Yields each prompt in the format of traces. */
  *traced(estimatedHere: string | undefined): Generator<TracePrompt> {
    for (const [prompt, group] of this.#groups) {
      const { row, promptTokens, task, tokens, flags, seconds, turns, shared, estimated = estimatedHere } = group;
      yield {
        prompt,
        ...(row === undefined ? undefined : { row }),
        ...(promptTokens === undefined ? undefined : { promptTokens }),
        ...(shared?.tokens === undefined ? undefined : { sharedTokens: shared.tokens }),
        ...(shared?.environment === undefined ? undefined : { environment: shared.environment }),
        ...(task === undefined ? undefined : { task }),
        ...(estimated === undefined ? undefined : { estimated }),
        responses: tokens.map((count, index) => {
          const bits = flags[index]!;
          return {
            tokens: count,
            ...(turns?.[index] === undefined ? undefined : { turns: turns[index] }),
            ...((bits & flag.correctKnown) === 0 ? undefined : { correct: (bits & flag.correct) !== 0 }),
            ...(seconds?.[index] === undefined ? undefined : { rewardSeconds: seconds[index] }),
            ...((bits & (flag.capped | flag.cappedKnown)) === 0 ? undefined : { capped: (bits & flag.capped) !== 0 }),
          };
        }),
      };
    }
  }

  /** Returns all lengths, shortest first. */
  sortedTokens(): Float64Array {
    const all = new Float64Array(this.#responses);
    let next = 0;
    for (const { tokens } of this.#groups.values()) {
      for (const count of tokens) all[next++] = count;
    }
    return all.sort();
  }

  /** Returns the numbers of turns of responses with turns, fewest first. */
  turnCounts(): Float64Array {
    const counts: number[] = [];
    for (const { turns = [] } of this.#groups.values()) for (const one of turns) if (one) counts.push(one.length);
    return Float64Array.from(counts).sort();
  }

  /** Returns the number of responses per prompt: the least, the most, and the most frequent. */
  groupSizes(): { readonly least: number; readonly most: number; readonly usual: number } {
    const counts = new Map<number, number>();
    for (const { tokens } of this.#groups.values()) counts.set(tokens.length, (counts.get(tokens.length) ?? 0) + 1);
    const sizes = [...counts].sort(([a], [b]) => a - b);
    const [usual] = sizes.reduce((best, one) => (one[1] >= best[1] ? one : best), [0, 0]);
    return { least: sizes[0]?.[0] ?? 0, most: sizes.at(-1)?.[0] ?? 0, usual };
  }

  /** Returns the number of prompts, each counted once, and the number of those that came in several steps. */
  distinct(): { readonly prompts: number; readonly returned: number } {
    const lines = new Map<string, number>();
    for (const [prompt, { row }] of this.#groups) {
      const id = rowOf(row === undefined ? { prompt } : { prompt, row });
      lines.set(id, (lines.get(id) ?? 0) + 1);
    }
    return { prompts: lines.size, returned: [...lines.values()].filter((count) => count > 1).length };
  }

  /** Returns the group for a response. Trajectories with one id but different prompts belong to different groups. */
  #groupOf(response: DumpedResponse): Group {
    const { group: name, step, turns } = response;
    const id = step === undefined ? name : `${name}@${step}`;
    const group = this.#groups.get(id) ?? this.#open(id, response);
    if (turns === undefined || group.promptTokens === response.promptTokens()) return group;
    const other = `${id}~${response.promptTokens()}`;
    return this.#groups.get(other) ?? this.#open(other, response);
  }

  #keepTurns(group: Group, turns: readonly TraceTurn[] | undefined): void {
    if (turns === undefined) return;
    group.turns ??= [];
    group.turns[group.tokens.length - 1] = [...turns];
  }

  #open(id: string, { prompt: row, promptTokens, task, step, shared }: DumpedResponse): Group {
    if (step !== undefined) this.#steps.add(step);
    const group: Group = {
      row: step === undefined ? undefined : row,
      promptTokens: promptTokens(),
      task,
      tokens: [],
      flags: [],
      ...(shared === undefined ? undefined : { shared }),
    };
    this.#groups.set(id, group);
    return group;
  }

  #mark(group: Group, at: number, capped: boolean, correct: boolean | undefined): void {
    const bits = group.flags[at]!;
    let now = bits;
    if (capped) now |= flag.capped;
    if (correct !== undefined) {
      now |= flag.correctKnown;
      now = correct ? now | flag.correct : now & ~flag.correct;
    }
    this.#capped += (now & flag.capped) - (bits & flag.capped);
    if ((now & flag.correctKnown) !== (bits & flag.correctKnown)) this.#scored += 1;
    group.flags[at] = now;
  }
}
