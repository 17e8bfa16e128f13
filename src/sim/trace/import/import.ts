/** Turns the files of a trainer, or of a trace, into a trace, line by line. Only lengths are kept, not the text. */
import { isPolicyError, refuse } from '../../../errors.ts';
import { quantileOf } from '../../comparison/metrics.ts';
import type { PassedOverKey, TracePrompt } from '../format.ts';
import { type QuantileRow, readQuantiles } from '../quantiles.ts';
import { tableDump } from './dialects.ts';
import type { DumpContext, DumpReader, SkipReason, TextTokens } from './dump.ts';
import { type Format, formatOf, formatOfRow } from './format-of.ts';
import { ResponseGroups } from './groups.ts';
import { dumpLine } from './line.ts';
import { type PileUp, pileUpOf } from './pile-up.ts';
import { dumpReaders } from './readers.ts';
import type { Repeated } from './repeats.ts';
import { type FieldChoices, type Role, roleName } from './rows/fields.ts';
import { RequestSessions } from './sessions.ts';

/** Options for reading a dump. */
export interface DumpImportOptions {
  /** Returns a short id for a text, which no other text shares. */
  readonly fingerprint: (text: string) => string;
  /** Id of a reader, see {@link dumpReaders}; by default detected from the first line. */
  readonly from?: string;
  /** Token counter for texts; without it, dumps without counts are refused. */
  readonly textTokens?: TextTokens;
  /** Longest response of the job, a whole number >= 1: responses of this length count as capped. */
  readonly capTokens?: number;
  /** The least score of a correct response. */
  readonly correctFrom?: number;
  /** Whether broken lines are counted instead of refused. */
  readonly skipBroken?: boolean;
  /** Fields by what they mean, where their names do not say it: see `fieldChoices`. */
  readonly fields?: FieldChoices;
  /** Which record of a step is kept, if the dump has several; without it, such a dump is refused. */
  readonly repeated?: Repeated;
}

/** A key that the trace format does not have, and that was passed over. */
export interface OtherKey {
  /** How often it came. */
  readonly count: number;
  /** The nearest key of the format; absent if none is near. */
  readonly meant?: string;
}

/** The outcome of an import. */
export interface DumpSummary {
  /** Detected formats. */
  readonly readers: readonly string[];
  /** Number of lines. */
  readonly lines: number;
  /** Lines of the trace, which are prompts; a prompt counts once per step. */
  readonly prompts: number;
  /** Number of distinct prompts, and number of these that came in several steps. */
  readonly distinct: { readonly prompts: number; readonly returned: number };
  /** Number of training steps in the dump. */
  readonly steps: number;
  /** Number of responses in the trace. */
  readonly responses: number;
  /** Number of responses per prompt: the least, the most, and that of the prompts which have the most responses. */
  readonly responsesPerPrompt: { readonly least: number; readonly most: number; readonly usual: number };
  /** The numbers of responses that prompts have, the least first, and how many prompts have each. */
  readonly groupSizes: readonly { readonly responses: number; readonly prompts: number }[];
  /** The fields from which lengths, prompts, steps, ends and correctness are, by meaning; empty for a trace. */
  readonly fields: Readonly<Record<string, string>>;
  /** Lengths of the responses, in tokens. */
  readonly tokens: { readonly p50: number; readonly p75: number; readonly p99: number; readonly longest: number };
  /** Numbers of turns, over responses that have turns; null if none has. */
  readonly turns: { readonly p50: number; readonly p99: number; readonly most: number } | null;
  /** Share of the responses that reached the limit, according to the dump or the cap. */
  readonly cappedShare: number;
  /** Number of responses of which the dump says how they ended. */
  readonly marked: number;
  /** Values for the end of a response that are not known, by field: at most three of each. */
  readonly unknownMarks: Readonly<Record<string, readonly string[]>>;
  /** Number of responses that were aborted after a known length, and are in the trace as `censored`. */
  readonly censored: number;
  /** Number of responses of steps that came again, and were left out. */
  readonly dropped: number;
  /** Whether groups that are all right or all wrong seem to be left out, as trainers do before training. */
  readonly filtered: boolean;
  /** The limit that lengths pile up at, where neither the dump nor a cap says which responses reached it; null if they do not. */
  readonly pileUp: PileUp | null;
  /** Number of responses that are known to be correct or wrong. */
  readonly scored: number;
  /** Number of responses whose tokens were counted from text. */
  readonly fromText: number;
  /** The method that counted tokens in texts; null if no text was counted. */
  readonly textTokens: string | null;
  /** Whether this method is an estimate. */
  readonly estimated: boolean;
  /** Number of rows that were added to another row for the same response (outputs of one session). */
  readonly joined: number;
  /** Number of responses that were left out, by reason. */
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
  /** Keys of a trace that the format does not have and that were passed over, by path, the first hundred of them. */
  readonly otherKeys: Readonly<Record<string, OtherKey>>;
  /** Number of lines that could not be read, and were skipped. */
  readonly brokenLines: number;
  /** The errors of the first broken lines. */
  readonly firstBroken: readonly string[];
}

const brokenShown = 3;
/** Keys may be ids: only so many different ones are counted. */
const mostOtherKeys = 100;
/**
 * Share of the cap from which a response counts as capped if its tokens were counted from text: such dumps lack special tokens,
 * and a tokenizer may split the text differently than the model generated it.
 */
const cappedFromText = 0.99;

/** Names a prompt without an id by its line in the file, without the file's folder. */
const ownId = (id: string, where: string): string => (id.startsWith(where) ? id.replace(/^.*[/\\]/, '') : id);

/** Collects the responses of files, all of one format. Pass it every line, and then take the trace. */
export class DumpImport {
  readonly #options: DumpImportOptions;
  readonly #groups = new ResponseGroups();
  readonly #rows: QuantileRow[] = [];
  /** Requests of a serving trace, which are later divided into sessions. */
  #requests = new RequestSessions();
  readonly #skipped: Partial<Record<SkipReason, number>> = {};
  readonly #firstBroken: string[] = [];
  /** The line of each prompt in a trace, because a prompt may not occur twice. */
  readonly #lineOf = new Map<string, { readonly file: string; readonly number: number }>();
  #file: string | undefined;
  /** Format of the current file; `undefined` before its first line. */
  #format: Format | undefined;
  /** Format of all files, with the first file that has it. */
  #known: { readonly id: string; readonly file: string } | undefined;
  /** Field of each meaning, and unknown values for the end of a response. */
  readonly #fields = new Map<string, Set<string>>();
  readonly #unknownMarks = new Map<string, Set<string>>();
  readonly #otherKeys = new Map<string, OtherKey>();
  #turn: number | undefined;
  /** How the tokens of several responses together were divided. */
  #divided: string | undefined;
  #separator: string | undefined;
  #hasSteps: boolean | undefined;
  #pileUp: PileUp | undefined;
  #lines = 0;
  #fromText = 0;
  #broken = 0;

  /**
   * Throws `unknown_id` for an unknown reader; `invalid_input` for a cap that is no whole number >= 1, and for a cap with estimated
   * lengths.
   */
  constructor(options: DumpImportOptions) {
    const { from, capTokens, textTokens } = options;
    if (from !== undefined && !dumpReaders.some(({ id }) => id === from)) {
      refuse('unknown_id', 'from', `one of ${dumpReaders.map(({ id }) => id).join(', ')}`, from);
    }
    if (capTokens !== undefined && textTokens?.method === 'characters') {
      const expected = 'lengths that are counted: estimates cannot tell which responses ran into a cap';
      refuse('invalid_input', 'capTokens', expected, textTokens.label);
    }
    if (capTokens !== undefined && !(Number.isSafeInteger(capTokens) && capTokens >= 1)) {
      refuse('invalid_input', 'capTokens', 'a whole number >= 1', capTokens);
    }
    this.#options = options;
  }

  /** Number of responses so far; for a serving trace, of requests. */
  get responses(): number {
    return this.#groups.responses + this.#requests.count;
  }

  /** Id of the detected format; `undefined` until a line has shown it. */
  get reader(): string | undefined {
    return this.#known?.id;
  }

  /**
   * Reads a line.
   *
   * @param text - the line; an empty line is skipped
   * @param file - name of the file
   * @param number - number of the line, from 1
   * @param step - the training step in the name of the file
   * @throws PolicyError `invalid_input` with file, line and field, unless broken lines are skipped; always for a file of another
   * format than the earlier files
   */
  line(text: string, file: string, number: number, step?: number): void {
    if (file !== this.#file) this.#begin(file);
    const line = text.trim();
    if (line === '' && !this.#isWithinCell) return;
    this.#lines += 1;
    const where = `${file}:${number}`;
    const isFirst = this.#format === undefined;
    if (isFirst && !this.#open(line, file, where)) return;
    const format = this.#format!;
    if (format.kind === 'dump' && format.csv !== undefined && isFirst && format.csv.hasHeader) return;
    this.#read(format, text, file, number, step);
  }

  #read(format: Format, text: string, file: string, number: number, step: number | undefined): void {
    const [line, where] = [text.trim(), `${file}:${number}`];
    if (format.kind === 'dump') this.#unbroken(() => this.#takeRow(format, text, where, file, step));
    else if (format.kind === 'trace')
      this.#unbroken(() => this.#takePrompt(format.read(line, where, this.#otherKey), file, number));
    else if (format.kind === 'requests') this.#unbroken(() => this.#requests.take(line, where));
    else this.#unbroken(() => this.#rows.push(readQuantiles(line, where)));
  }

  /**
   * Reads a row that is already an object: of a parquet file, for example.
   *
   * @param record - the row, by column
   * @param file - name of the file
   * @param number - number of the row, from 1
   * @param step - the training step in the name of the file
   * @throws PolicyError as {@link line} does
   */
  row(record: Readonly<Record<string, unknown>>, file: string, number: number, step?: number): void {
    if (file !== this.#file) this.#begin(file);
    this.#lines += 1;
    const where = `${file}:${number}`;
    this.#format ??= this.#checked(formatOfRow(record, where, this.#options), file, where);
    const format = this.#format;
    // Traces and quantiles are read from text.
    if (format.kind !== 'dump') return this.#read(format, JSON.stringify(record), file, number, step);
    this.#unbroken(() => this.#take(format.reader, record, where, file, step));
  }

  /** Keys of a trace that were passed over so far, by path. */
  get otherKeys(): Readonly<Record<string, OtherKey>> {
    return Object.fromEntries(this.#otherKeys);
  }

  /** Quantiles, if the files contain distributions instead of single responses. */
  get quantiles(): readonly QuantileRow[] | undefined {
    return this.#known?.id === 'servegen' ? this.#rows : undefined;
  }

  /** Returns the trace: every prompt with its responses, in the order of the files. Throws `invalid_input` for an empty trace. */
  prompts(): Generator<TracePrompt> {
    this.#begin(this.#file);
    for (const session of this.#requests.prompts(this.#groups.prompts)) this.#groups.addPrompt(session);
    this.#requests = new RequestSessions();
    this.#groups.settle(this.#options.repeated);
    this.#capAtPileUp();
    if (this.#groups.responses === this.#groups.censored) {
      const path = this.#file ?? 'trace';
      refuse('invalid_input', path, 'a trace with prompts', this.#nothing());
    }
    return this.#groups.traced(this.#isFromCharacters ? this.#options.textTokens!.label : undefined);
  }

  /** The limit that lengths pile up at; undefined if they do not, or if something else says which responses reached it. */
  get pileUp(): PileUp | undefined {
    return this.#pileUp;
  }

  /** Takes a pile-up for the limit of the dump. Estimated lengths do not show one. */
  #capAtPileUp(): void {
    const isSaid = this.#options.capTokens !== undefined || this.#groups.saysCapped;
    if (this.#pileUp !== undefined || isSaid || this.#estimated) return;
    this.#pileUp = pileUpOf(this.#groups.sortedTokens());
    if (this.#pileUp !== undefined) this.#groups.cap(this.#pileUp.tokens);
  }

  #nothing(): string {
    if (this.#rows.length > 0) return 'quantiles, which have no single responses';
    if (this.#broken > 0) return `${this.#broken} broken lines: ${this.#firstBroken[0]}`;
    if (this.#groups.censored > 0) return `${this.#groups.censored} responses that were aborted, and no other`;
    return this.#lines === 0 ? 'an empty file' : 'no prompt with a response';
  }

  /** Returns the outcome. Throws `invalid_input` without any response. */
  summary(): DumpSummary {
    this.prompts();
    const sorted = this.#groups.sortedTokens();
    const at = (share: number): number => Math.round(quantileOf(sorted, share));
    const turns = this.#groups.turnCounts();
    const sizes = this.#groups.groupSizes();
    const usual = sizes.reduce((best, one) =>
      one.responses * one.prompts >= best.responses * best.prompts ? one : best,
    );
    const turnsAt = (share: number): number => Math.round(quantileOf(turns, share));
    return {
      readers: this.#known === undefined ? [] : [this.#known.id],
      lines: this.#lines,
      prompts: this.#groups.prompts,
      distinct: this.#groups.distinct(),
      steps: this.#groups.steps,
      responses: this.#groups.responses,
      responsesPerPrompt: { least: sizes[0]!.responses, most: sizes.at(-1)!.responses, usual: usual.responses },
      groupSizes: sizes,
      fields: Object.fromEntries([...this.#fields].map(([role, paths]) => [role, [...paths].join(' or ')])),
      tokens: { p50: at(0.5), p75: at(0.75), p99: at(0.99), longest: at(1) },
      turns: turns.length === 0 ? null : { p50: turnsAt(0.5), p99: turnsAt(0.99), most: turnsAt(1) },
      pileUp: this.pileUp ?? null,
      marked: this.#groups.marked,
      unknownMarks: Object.fromEntries([...this.#unknownMarks].map(([path, values]) => [path, [...values]])),
      censored: this.#groups.censored,
      dropped: this.#groups.dropped,
      filtered: this.#groups.isFiltered(),
      cappedShare: this.#groups.capped / this.#groups.responses,
      scored: this.#groups.scored,
      fromText: this.#fromText,
      textTokens: this.#fromText === 0 ? (this.#divided ?? null) : this.#options.textTokens!.label,
      estimated: this.#estimated,
      joined: this.#groups.joined,
      skipped: { ...this.#skipped },
      otherKeys: this.otherKeys,
      brokenLines: this.#broken,
      firstBroken: [...this.#firstBroken],
    };
  }

  /** Counts errors in a line instead of throwing them, if `skipBroken` is set; errors of the options are always thrown. */
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

  get #isFromCharacters(): boolean {
    return this.#fromText > 0 && this.#options.textTokens?.method === 'characters';
  }

  get #estimated(): boolean {
    return this.#isFromCharacters || this.#divided !== undefined;
  }

  get #isWithinCell(): boolean {
    return this.#format?.kind === 'dump' && this.#format.csv?.open !== undefined;
  }

  /** Begins a file after the end of the previous file. */
  #begin(file: string | undefined): void {
    const cell = this.#format?.kind === 'dump' ? this.#format.csv?.open : undefined;
    [this.#file, this.#format, this.#separator] = [file, undefined, undefined];
    if (cell === undefined) return;
    this.#unbroken(() => {
      refuse('invalid_input', cell, 'a quote at the end of a cell', 'none');
    });
  }

  /** Detects the format of a file; returns false for a broken line that is skipped, and for one that only says how to read. */
  #open(line: string, file: string, where: string): boolean {
    // Excel's first line, which names the separator.
    const separator = /^"?sep=(.)"?$/i.exec(line)?.[1] ?? (line.toLowerCase() === 'sep=' ? '\t' : undefined);
    if (separator !== undefined) {
      this.#separator = separator;
      return false;
    }
    // A line that is not JSON may be skipped; an unknown format is always refused.
    if (line.startsWith('{') && this.#unbroken(() => dumpLine(line, where)) === undefined) return false;
    const { skipBroken } = this.#options;
    const find = (): Format => formatOf(line, where, { ...this.#options, separator: this.#separator });
    const format = skipBroken === true && !line.startsWith('{') ? this.#unbroken(find) : find();
    if (format === undefined) return false;
    this.#format = this.#checked(format, file, where);
    return true;
  }

  #checked(format: Format, file: string, where: string): Format {
    this.#known ??= { id: format.id, file };
    if (this.#known.id !== format.id) {
      refuse('invalid_input', where, `the format ${this.#known.id}, as in ${this.#known.file}`, format.id);
    }
    return format;
  }

  #takeRow(format: Extract<Format, { kind: 'dump' }>, text: string, where: string, file: string, step?: number): void {
    if (format.csv === undefined) return this.#take(format.reader, dumpLine(text.trim(), where), where, file, step);
    const record = format.csv.row(text.replace(/\r$/, ''), where);
    if (record !== undefined) this.#take(format.reader, record.row, record.where, file, step);
  }

  #takePrompt(prompt: TracePrompt | undefined, file: string, number: number): void {
    if (prompt === undefined || prompt.responses.length === 0) return;
    const where = `${file}:${number}`;
    const earlier = this.#lineOf.get(prompt.prompt);
    if (earlier !== undefined) {
      const line = earlier.file === file ? `line ${earlier.number}` : `${earlier.file}:${earlier.number}`;
      refuse('invalid_input', where, `a prompt id other than that of ${line}`, prompt.prompt);
    }
    this.#lineOf.set(prompt.prompt, { file, number });
    this.#groups.addPrompt({ ...prompt, prompt: ownId(prompt.prompt, where) });
  }

  #context(where: string, step: number | undefined): DumpContext {
    const { fingerprint, textTokens, correctFrom, fields } = this.#options;
    return {
      where,
      fingerprint,
      ...(step === undefined ? undefined : { step }),
      ...(textTokens === undefined ? undefined : { textTokens }),
      ...(correctFrom === undefined ? undefined : { correctFrom }),
      ...(fields === undefined ? undefined : { fields }),
      used: this.#used,
      unknownMark: this.#unknownMark,
    };
  }

  readonly #used = (role: Role, path: string): void => noted(this.#fields, roleName(role), path);
  readonly #otherKey: PassedOverKey = (key, meant) => {
    const count = (this.#otherKeys.get(key)?.count ?? 0) + 1;
    if (count === 1 && this.#otherKeys.size === mostOtherKeys) return;
    this.#otherKeys.set(key, { count, ...(meant === undefined ? undefined : { meant }) });
  };
  readonly #unknownMark = (path: string, value: string): void => noted(this.#unknownMarks, path, value);

  #take(reader: DumpReader, row: Readonly<Record<string, unknown>>, where: string, file: string, step?: number): void {
    const { capTokens } = this.#options;
    for (const one of reader.read(row, this.#context(where, step))) {
      if (typeof one === 'string') {
        this.#skipped[one] = (this.#skipped[one] ?? 0) + 1;
        continue;
      }
      this.#checkStep(reader, one.step, where, step);
      this.#checkTurn(one.turn, where);
      const limit =
        capTokens === undefined ? Number.POSITIVE_INFINITY : capTokens * (one.fromText ? cappedFromText : 1);
      const own = { ...one, group: ownId(one.group, where) };
      if (!this.#groups.add(own, one.truncated === true || one.tokens >= limit, file, where)) {
        const got = `${one.group}, a second time: is a file given twice?`;
        refuse('invalid_input', where, 'a sample that has not come before', got);
      }
      if (one.fromText) this.#fromText += 1;
      if (one.estimated !== undefined) this.#divided = one.estimated;
    }
  }

  /** Refuses rows that are turns, where nothing says of which response. */
  #checkTurn(turn: number | undefined, where: string): void {
    if (turn === undefined) return;
    this.#turn ??= turn;
    if (this.#turn === turn) return;
    const expected =
      '--field part=NAME, the field that names the response of a turn, or --field turn=none, if each row is a response';
    refuse('invalid_config', where, expected, 'rows of several turns, and no field that says whose');
  }

  /**
   * Refuses a line whose step differs from the step in the file's name, and a file in which only some lines have a step: these come
   * from several dumps.
   */
  #checkStep(reader: DumpReader, own: number | undefined, where: string, named: number | undefined): void {
    if (reader !== tableDump && named !== undefined && own !== named) {
      refuse('invalid_input', where, `step ${named}, as the name of the file says`, `step ${own}`);
    }
    this.#hasSteps ??= own !== undefined;
    if (this.#hasSteps && own === undefined) refuse('invalid_input', where, 'a step, as the lines before have', 'none');
    if (!this.#hasSteps && own !== undefined)
      refuse('invalid_input', where, 'no step, as in the lines before', `step ${own}`);
  }
}

const mostNoted = 3;

/** Notes a value under a key, up to three of each. */
function noted(all: Map<string, Set<string>>, key: string, value: string): void {
  const known = all.get(key);
  if (known === undefined) all.set(key, new Set([value]));
  else if (known.size < mostNoted) known.add(value);
}
