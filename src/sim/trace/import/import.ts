/** From the dumps of a trainer to a trace, line by line. Only lengths are kept; text is forgotten with its line. */
import { isPolicyError, PolicyError } from '../../../errors.ts';
import { quantileOf } from '../../metrics.ts';
import { hasKeys, type TracePrompt } from '../format.ts';
import type { DumpContext, DumpReader, SkipReason, TextTokens } from './dump.ts';
import { ResponseGroups } from './groups.ts';
import { dumpLine } from './line.ts';
import { dumpReaders } from './readers.ts';

/** How a dump is read. */
export interface DumpImportOptions {
  /** A short id of a text: the same for the same text, and another for every other. */
  readonly fingerprint: (text: string) => string;
  /** Id of a reader, see {@link dumpReaders}; found from the first line of each file by default. */
  readonly from?: string;
  /** How the tokens of texts are found; dumps without counts are refused without it. */
  readonly textTokens?: TextTokens;
  /** Longest response of the job, a whole number >= 1: what reaches it is marked as capped. */
  readonly capTokens?: number;
  /** The least score of a correct response. */
  readonly correctFrom?: number;
  /** Count broken lines instead of refusing the first one. */
  readonly skipBroken?: boolean;
}

/** What came of a dump. */
export interface DumpSummary {
  /** Formats that were read. */
  readonly readers: readonly string[];
  /** Lines that were read. */
  readonly lines: number;
  /** Lines of the trace: prompts, each counted once a step. */
  readonly prompts: number;
  /** Training steps that the dump names. */
  readonly steps: number;
  /** Responses of the trace. */
  readonly responses: number;
  /** Responses of a prompt: the fewest, the most, and how many most prompts have. */
  readonly responsesPerPrompt: { readonly least: number; readonly most: number; readonly usual: number };
  /** Lengths of the responses, in tokens. */
  readonly tokens: { readonly p50: number; readonly p75: number; readonly p99: number; readonly longest: number };
  /** Share of the responses that ran into the limit, as far as the dump or the cap says it. */
  readonly cappedShare: number;
  /** Responses of which it is known whether they are correct. */
  readonly scored: number;
  /** Responses whose tokens come from their text, and how. */
  readonly fromText: number;
  /** How tokens were counted in texts; null where no text was counted. */
  readonly textTokens: string | null;
  /** Whether that is an estimate. */
  readonly estimated: boolean;
  /** Rows that were added to another one of the same response (outputs of one session). */
  readonly joined: number;
  /** Responses that were left out, by reason. */
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
  /** Lines that could not be read, and were skipped. */
  readonly brokenLines: number;
  /** What was wrong with the first broken lines. */
  readonly firstBroken: readonly string[];
}

const brokenShown = 3;
/**
 * A dump of text leaves special tokens out, and text may be cut into other tokens than the model made: a response counts
 * as capped from this share of the cap.
 */
export const cappedFromText = 0.99;

/** Collects the responses of a dump. Give it every line, then take the trace. */
export class DumpImport {
  readonly #options: DumpImportOptions;
  readonly #groups = new ResponseGroups();
  readonly #readers = new Set<string>();
  readonly #skipped: Partial<Record<SkipReason, number>> = {};
  readonly #firstBroken: string[] = [];
  #file: string | undefined;
  #reader: DumpReader | undefined;
  #lines = 0;
  #fromText = 0;
  #broken = 0;

  /** Throws `unknown_id` for a reader that does not exist, `invalid_input` for a cap that nothing could reach. */
  constructor(options: DumpImportOptions) {
    const { from, capTokens, textTokens } = options;
    if (from !== undefined && !dumpReaders.some(({ id }) => id === from)) {
      const expected = `one of ${dumpReaders.map(({ id }) => id).join(', ')}`;
      throw new PolicyError('unknown_id', { expected, got: from, path: 'from' });
    }
    if (capTokens !== undefined && textTokens?.method === 'characters') {
      const expected = 'lengths that are counted: estimates cannot tell which responses ran into a cap';
      throw new PolicyError('invalid_input', { expected, got: textTokens.label, path: 'capTokens' });
    }
    if (capTokens !== undefined && !(Number.isSafeInteger(capTokens) && capTokens >= 1)) {
      throw new PolicyError('invalid_input', { expected: 'a whole number >= 1', got: capTokens, path: 'capTokens' });
    }
    this.#options = options;
  }

  /** Responses so far. */
  get responses(): number {
    return this.#groups.responses;
  }

  /**
   * Takes a line.
   *
   * @param text - the line; an empty one is nothing
   * @param file - the file that it stands in: each file may be of another format
   * @param number - its number in the file, from 1
   * @param step - the training step that the name of the file says
   * @throws PolicyError `invalid_input` with file, line and field, unless broken lines are skipped
   */
  line(text: string, file: string, number: number, step?: number): void {
    const line = text.trim();
    if (line === '') return;
    if (file !== this.#file) [this.#file, this.#reader] = [file, undefined];
    this.#lines += 1;
    const where = `${file}:${number}`;
    const row = this.#unbroken(() => dumpLine(line, where));
    if (row === undefined) return;
    const reader = (this.#reader ??= this.#readerOf(row, line, where));
    this.#unbroken(() => this.#take(reader, row, where, step));
  }

  /** The trace: every prompt with its responses, in the order of the dump. Throws `invalid_input` if there is none. */
  prompts(): Generator<TracePrompt> {
    if (this.#groups.responses === 0) {
      const got = this.#broken > 0 ? `${this.#broken} broken lines: ${this.#firstBroken[0]}` : 'none';
      throw new PolicyError('invalid_input', { expected: 'a response with a length', got, path: this.#file ?? 'dump' });
    }
    return this.#groups.traced(this.#estimated ? this.#options.textTokens!.label : undefined);
  }

  /** What came of it. Throws `invalid_input` if there is no response. */
  summary(): DumpSummary {
    this.prompts();
    const sorted = this.#groups.sortedTokens();
    const at = (share: number): number => Math.round(quantileOf(sorted, share));
    return {
      readers: [...this.#readers],
      lines: this.#lines,
      prompts: this.#groups.prompts,
      steps: this.#groups.steps,
      responses: this.#groups.responses,
      responsesPerPrompt: this.#groups.groupSizes(),
      tokens: { p50: at(0.5), p75: at(0.75), p99: at(0.99), longest: at(1) },
      cappedShare: this.#groups.capped / this.#groups.responses,
      scored: this.#groups.scored,
      fromText: this.#fromText,
      textTokens: this.#fromText === 0 ? null : this.#options.textTokens!.label,
      estimated: this.#estimated,
      joined: this.#groups.joined,
      skipped: { ...this.#skipped },
      brokenLines: this.#broken,
      firstBroken: [...this.#firstBroken],
    };
  }

  /** What is wrong with a line is counted, if that was asked for; what is wrong with the options never is. */
  #unbroken<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (this.#options.skipBroken !== true || !isPolicyError(error) || error.code !== 'invalid_input') throw error;
      this.#broken += 1;
      if (this.#firstBroken.length < brokenShown) this.#firstBroken.push(error.message);
      return undefined;
    }
  }

  get #estimated(): boolean {
    return this.#fromText > 0 && this.#options.textTokens?.method === 'characters';
  }

  #readerOf(row: Readonly<Record<string, unknown>>, line: string, where: string): DumpReader {
    const { from } = this.#options;
    const reader = dumpReaders.find((one) => (from === undefined ? one.detect(row) : one.id === from));
    if (reader !== undefined) {
      this.#readers.add(reader.id);
      return reader;
    }
    const known = dumpReaders.map((one) => one.id).join(', ');
    const trace = hasKeys(line, ['responses']) ? ' (a trace needs no import)' : '';
    const got = `an object with ${Object.keys(row).slice(0, 8).join(', ') || 'nothing in it'}`;
    throw new PolicyError('invalid_input', { expected: `a dump of ${known}${trace}`, got, path: where });
  }

  #take(reader: DumpReader, row: Readonly<Record<string, unknown>>, where: string, step?: number): void {
    const { fingerprint, textTokens, correctFrom, capTokens } = this.#options;
    const context: DumpContext = {
      where,
      fingerprint,
      ...(step === undefined ? undefined : { step }),
      ...(textTokens === undefined ? undefined : { textTokens }),
      ...(correctFrom === undefined ? undefined : { correctFrom }),
    };
    for (const one of reader.read(row, context)) {
      if (typeof one === 'string') {
        this.#skipped[one] = (this.#skipped[one] ?? 0) + 1;
        continue;
      }
      const limit =
        capTokens === undefined ? Number.POSITIVE_INFINITY : capTokens * (one.fromText ? cappedFromText : 1);
      if (!this.#groups.add(one, one.truncated === true || one.tokens >= limit)) {
        const got = `${one.group}, a second time: is a file given twice?`;
        throw new PolicyError('invalid_input', { expected: 'a sample that has not come before', got, path: where });
      }
      if (one.fromText) this.#fromText += 1;
    }
  }
}
