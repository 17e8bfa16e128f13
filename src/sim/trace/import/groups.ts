/**
 * Groups responses by prompt and step. Only numbers are kept, so that memory grows with the number of responses and not with their
 * text.
 */
import { rowOf, type TracePrompt, type TraceTurn } from '../format.ts';
import type { DumpedResponse } from './dump.ts';
import { type Repeated, refuseRepeated, type Segment, Segments } from './repeats.ts';

interface Group {
  readonly id: string;
  /** Where it is in the dump; a trace has no segments. */
  readonly segment: Segment | undefined;
  /** Id of the prompt across steps, unless the group's id contains it. */
  readonly row: string | undefined;
  readonly promptTokens: number | undefined;
  readonly task: string | undefined;
  readonly tokens: number[];
  /** Bits per response: see `flag`. */
  readonly flags: number[];
  /** Numbers of the responses within the prompt, if the dump has them. */
  parts?: (number | string | undefined)[];
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

const flag = { capped: 1, correctKnown: 2, correct: 4, cappedKnown: 8, endKnown: 16, censored: 32 } as const;

/** All prompts of a dump, in the order of their first rows. */
export class ResponseGroups {
  #groups = new Map<string, Group>();
  readonly #segments = new Segments();
  readonly #numbers = new Map<Segment, number>();
  #responses = 0;
  #joined = 0;
  #saysCapped = false;
  #dropped = 0;

  /** Number of prompts; a prompt counts once per step. */
  get prompts(): number {
    return this.#groups.size;
  }

  /** Number of known training steps. */
  get steps(): number {
    return new Set([...this.#groups.values()].flatMap(({ segment }) => segment?.step ?? [])).size;
  }

  /** Number of responses; a response that has several rows counts once. */
  get responses(): number {
    return this.#responses;
  }

  /** Number of responses of steps that came again, and were left out. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Number of responses that reached the limit. */
  get capped(): number {
    return this.#count(flag.capped);
  }

  /** Number of responses that were aborted, and kept. */
  get censored(): number {
    return this.#count(flag.censored);
  }

  /** Number of responses of which the dump says how they ended. */
  get marked(): number {
    return this.#count(flag.endKnown);
  }

  /** Whether anything says which responses reached the limit. */
  get saysCapped(): boolean {
    return this.#saysCapped;
  }

  /** Marks the responses of at least so many tokens as capped. */
  cap(tokens: number): void {
    for (const { tokens: counts, flags } of this.#groups.values()) {
      for (const [at, count] of counts.entries()) if (count >= tokens) flags[at]! |= flag.capped;
    }
  }

  /** Number of responses that are known to be correct or wrong. */
  get scored(): number {
    return this.#count(flag.correctKnown);
  }

  /** Number of rows that were added to an earlier row for the same response. */
  get joined(): number {
    return this.#joined;
  }

  #count(bit: number): number {
    let count = 0;
    for (const { flags } of this.#groups.values()) for (const bits of flags) if ((bits & bit) !== 0) count += 1;
    return count;
  }

  /**
   * Adds a response, or another part of one; returns false for a row that was added before.
   *
   * @param file - its file, and `where` its line, to tell steps that come again
   */
  add(response: DumpedResponse, capped: boolean, file: string, where: string): boolean {
    const segment = this.#segments.of(file, response.step, where);
    const group = this.#groupOf(response, segment);
    const { part, row, correct, turns, truncated, censored, estimated } = response;
    if (truncated !== undefined) this.#saysCapped = true;
    if (estimated !== undefined) [this.#saysCapped, group.estimated] = [true, estimated];
    if (row !== undefined) {
      group.rows ??= [];
      if (group.rows.includes(row)) return false;
      group.rows.push(row);
    }
    const ends = (truncated === undefined ? 0 : flag.endKnown) | (censored === true ? flag.censored : 0);
    if (part !== undefined) group.parts ??= group.tokens.map(() => undefined);
    const at = part === undefined ? -1 : group.parts!.indexOf(part);
    if (at >= 0) {
      this.#joined += 1;
      group.tokens[at]! += response.tokens;
      if (group.turns !== undefined) group.turns[at] = turns && group.turns[at]?.concat(turns);
      mark(group, at, capped, correct, ends);
      return true;
    }
    this.#responses += 1;
    segment.groups.set(group.id, (segment.groups.get(group.id) ?? 0) + 1);
    group.parts?.push(part);
    group.flags.push(0);
    mark(group, group.tokens.push(response.tokens) - 1, capped, correct, ends);
    this.#keepTurns(group, turns);
    return true;
  }

  /** Settles steps that the dump has several times. Throws `invalid_input` for one, if nothing says which is kept. */
  settle(repeated: Repeated | undefined): void {
    const lists = [...this.#segments.repeated()];
    const open = lists.filter((list) => list.length > 1);
    if (open.length > 0 && repeated === undefined) refuseRepeated(open[0]!, open.length - 1);
    const left = new Set<Segment>();
    for (const list of open) {
      if (repeated === 'first' || repeated === 'last') {
        for (const segments of repeated === 'first' ? list.slice(1) : list.slice(0, -1))
          for (const one of segments) left.add(one);
      }
    }
    if (lists.length === 0) return;
    const kept = new Map<string, Group>();
    for (const group of this.#groups.values()) {
      if (group.segment !== undefined && left.has(group.segment)) {
        this.#dropped += group.tokens.length;
        this.#responses -= group.tokens.length;
        continue;
      }
      const first = kept.get(group.id);
      if (first === undefined) kept.set(group.id, group);
      else append(first, group);
    }
    this.#groups = kept;
  }

  /** Adds a prompt of a trace, with a new id. */
  addPrompt({ prompt, row, promptTokens, task, estimated, responses, environment, sharedTokens }: TracePrompt): void {
    const group: Group = { id: prompt, segment: undefined, row, promptTokens, task, tokens: [], flags: [] };
    if (environment !== undefined || sharedTokens !== undefined) group.shared = { environment, tokens: sharedTokens };
    if (estimated !== undefined) group.estimated = estimated;
    this.#groups.set(prompt, group);
    for (const { tokens, turns, correct, capped, censored, rewardSeconds } of responses) {
      this.#responses += 1;
      group.flags.push(capped === undefined ? 0 : flag.cappedKnown | flag.endKnown);
      // Estimated lengths do not show who was cut, either.
      if (capped !== undefined || estimated !== undefined) this.#saysCapped = true;
      mark(group, group.tokens.push(tokens) - 1, capped === true, correct, censored === true ? flag.censored : 0);
      this.#keepTurns(group, turns);
      if (rewardSeconds === undefined) continue;
      group.seconds ??= [];
      group.seconds[group.tokens.length - 1] = rewardSeconds;
    }
  }

  /** Yields each prompt in the format of traces. */
  *traced(estimatedHere: string | undefined): Generator<TracePrompt> {
    for (const group of this.#groups.values()) {
      const {
        id: prompt,
        row,
        promptTokens,
        task,
        tokens,
        flags,
        seconds,
        turns,
        shared,
        estimated = estimatedHere,
      } = group;
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
            ...((bits & flag.censored) === 0 ? undefined : { censored: true }),
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

  /** Returns the sizes of groups, from the least: prompts that have so many responses. */
  groupSizes(): readonly { readonly responses: number; readonly prompts: number }[] {
    const counts = new Map<number, number>();
    for (const { tokens } of this.#groups.values()) counts.set(tokens.length, (counts.get(tokens.length) ?? 0) + 1);
    return [...counts].sort(([a], [b]) => a - b).map(([responses, prompts]) => ({ responses, prompts }));
  }

  /**
   * Returns whether only groups with right and wrong responses are there, as where a trainer has left out the others: by chance,
   * at least three would be all right or all wrong.
   */
  isFiltered(): boolean {
    const groups = [...this.#groups.values()].filter(
      ({ flags }) => flags.length > 1 && flags.every((bits) => (bits & flag.correctKnown) !== 0),
    );
    const rights = groups.map(({ flags }) => flags.filter((bits) => (bits & flag.correct) !== 0).length);
    if (rights.some((right, at) => right === 0 || right === groups[at]!.flags.length)) return false;
    const all = groups.reduce((sum, { flags }) => sum + flags.length, 0);
    const share = rights.reduce((sum, one) => sum + one, 0) / all;
    const expected = groups.reduce((sum, { flags }) => sum + share ** flags.length + (1 - share) ** flags.length, 0);
    return expected >= 3;
  }

  /** Returns the number of prompts, each counted once, and the number of those that came in several steps. */
  distinct(): { readonly prompts: number; readonly returned: number } {
    const lines = new Map<string, number>();
    for (const { id: prompt, row } of this.#groups.values()) {
      const id = rowOf(row === undefined ? { prompt } : { prompt, row });
      lines.set(id, (lines.get(id) ?? 0) + 1);
    }
    return { prompts: lines.size, returned: [...lines.values()].filter((count) => count > 1).length };
  }

  /** Returns the group for a response. Trajectories with one id but different prompts belong to different groups. */
  #groupOf(response: DumpedResponse, segment: Segment): Group {
    const { group: name, step, turns } = response;
    const number = this.#numbers.get(segment) ?? this.#numbers.size;
    this.#numbers.set(segment, number);
    const id = step === undefined ? name : `${name}@${step}`;
    const group = this.#groups.get(`${number} ${id}`) ?? this.#open(id, `${number} ${id}`, response, segment);
    if (turns === undefined || group.promptTokens === response.promptTokens()) return group;
    const other = `${id}~${response.promptTokens()}`;
    return this.#groups.get(`${number} ${other}`) ?? this.#open(other, `${number} ${other}`, response, segment);
  }

  #keepTurns(group: Group, turns: readonly TraceTurn[] | undefined): void {
    if (turns === undefined) return;
    group.turns ??= [];
    group.turns[group.tokens.length - 1] = [...turns];
  }

  #open(
    id: string,
    key: string,
    { prompt: row, promptTokens, task, step, shared }: DumpedResponse,
    segment: Segment,
  ): Group {
    const group: Group = {
      id,
      segment,
      row: step === undefined ? undefined : row,
      promptTokens: promptTokens(),
      task,
      tokens: [],
      flags: [],
      ...(shared === undefined ? undefined : { shared }),
    };
    this.#groups.set(key, group);
    return group;
  }
}

/** Adds the responses of another segment. */
function append(group: Group, { tokens, flags, turns, parts, rows }: Group): void {
  const count = group.tokens.length;
  for (const [at, one] of tokens.entries()) {
    group.tokens.push(one);
    group.flags.push(flags[at]!);
    if (turns?.[at] === undefined) continue;
    group.turns ??= [];
    group.turns[count + at] = turns[at];
  }
  if (parts !== undefined) group.parts = [...(group.parts ?? Array<undefined>(count).fill(undefined)), ...parts];
  if (rows !== undefined) group.rows = [...(group.rows ?? []), ...rows];
}

function mark({ flags }: Group, at: number, capped: boolean, correct: boolean | undefined, ends: number): void {
  let bits = flags[at]! | ends;
  if (capped) bits |= flag.capped;
  if (correct !== undefined) {
    bits |= flag.correctKnown;
    bits = correct ? bits | flag.correct : bits & ~flag.correct;
  }
  flags[at] = bits;
}
