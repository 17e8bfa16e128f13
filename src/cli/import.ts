/** `rollflex import`: from the dumps of a trainer to a trace. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { printable } from '../core/printable.ts';
import { PolicyError } from '../errors.ts';
import type { TextTokens } from '../sim/trace/import/dump.ts';
import { DumpImport, type DumpSummary } from '../sim/trace/import/import.ts';
import { type DumpFile, dumpFiles, dumpLines } from './import-files.ts';
import { importSummary } from './import-summary.ts';
import { print, printJson } from './output.ts';
import { Progress } from './progress.ts';
import { fileTokenizer, tokenizerFiles, tokensPerCharacter } from './tokenizer.ts';
import { checkOutputs, writeWhole } from './written-files.ts';

/** Options as the command line gives them. */
export interface ImportOptions {
  readonly from?: string;
  readonly tokenizer?: string;
  readonly tokensPerCharacter?: number;
  readonly cap?: number;
  readonly correctFrom?: number;
  readonly skipBroken?: boolean;
  readonly output?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Short enough for an id, and long enough that no two prompts share one. */
const fingerprint = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 20);
const millisecondsBetweenTexts = 200;
/** A line with more characters than this takes long: its texts are counted by the tokenizer. */
const longLine = 100_000;
const linesInChunk = 1000;

/** Reads the dumps, writes the trace, and says what came of it. */
export async function runImport(paths: readonly string[], options: ImportOptions): Promise<void> {
  check(options);
  const files = dumpFiles(paths);
  const dumps = files.map(({ name }) => (name === '-' ? '/dev/stdin' : name));
  const tokenizer = options.tokenizer === undefined ? [] : tokenizerFiles(options.tokenizer);
  checkOutputs({ '--output': options.output }, [...dumps, ...tokenizer]);
  const textTokens = await textTokensOf(options);
  const dump = new DumpImport({
    fingerprint,
    ...(options.from === undefined ? undefined : { from: options.from }),
    ...(textTokens === undefined ? undefined : { textTokens }),
    ...(options.cap === undefined ? undefined : { capTokens: options.cap }),
    ...(options.correctFrom === undefined ? undefined : { correctFrom: options.correctFrom }),
    skipBroken: options.skipBroken === true,
  });
  const summary = await readAll(files, dump, options);
  if (options.output === undefined) await pipeline(Readable.from(traceLines(dump)), process.stdout, { end: false });
  report(summary, files, options);
  if (options.output !== undefined) writeWhole(options.output, traceLines(dump));
}

function check({ output, json, tokenizer, tokensPerCharacter: factor }: ImportOptions): void {
  if (json && output === undefined) {
    const expected = '--output FILE with --json: the trace goes to standard output without it';
    throw new PolicyError('invalid_input', { expected, got: 'none', path: '--json' });
  }
  if (tokenizer !== undefined && factor !== undefined) {
    const expected = '--tokenizer or --tokens-per-character, not both';
    throw new PolicyError('invalid_input', { expected, got: factor, path: '--tokens-per-character' });
  }
}

async function textTokensOf({ tokenizer, tokensPerCharacter: factor }: ImportOptions): Promise<TextTokens | undefined> {
  if (tokenizer !== undefined) return fileTokenizer(tokenizer);
  return factor === undefined ? undefined : tokensPerCharacter(factor);
}

async function readAll(files: readonly DumpFile[], dump: DumpImport, options: ImportOptions): Promise<DumpSummary> {
  const progress = new Progress({ text: 'reading', isQuiet: options.quiet === true || options.json === true });
  let shownAt = 0;
  try {
    for (const file of files) {
      for await (const { text, number } of dumpLines(file)) {
        const read = (): void => dump.line(text, file.name, number, file.step);
        if (text.length > longLine) await progress.step(read);
        else read();
        if (Date.now() - shownAt < millisecondsBetweenTexts) continue;
        shownAt = Date.now();
        progress.text = `reading ${file.name}: line ${number}, ${dump.responses} responses in all`;
        // Lines of one chunk come without a pause: the spinner needs one, and Ctrl-C.
        await turn();
      }
    }
    return await progress.step(() => dump.summary());
  } catch (error) {
    throw withOptions(error);
  } finally {
    progress.stop();
  }
}

/** The library knows no options of the command line. */
function withOptions(error: unknown): unknown {
  if (!(error instanceof PolicyError) || error.code !== 'invalid_config') return error;
  const expected = `--tokenizer tokenizer.json, or --tokens-per-character N for an estimate: this dump has text, and no count of tokens`;
  return new PolicyError('invalid_input', { expected, got: 'neither', path: error.path });
}

function* traceLines(dump: DumpImport): Generator<string> {
  let lines: string[] = [];
  for (const prompt of dump.prompts()) {
    if (lines.push(`${printable(JSON.stringify(prompt))}\n`) < linesInChunk) continue;
    yield lines.join('');
    lines = [];
  }
  yield lines.join('');
}

function report(summary: DumpSummary, files: readonly DumpFile[], options: ImportOptions): void {
  const bytes = files.reduce((sum, one) => sum + one.bytes, 0);
  if (options.json) printJson({ ...summary, files: files.length, bytes, output: options.output });
  else if (!options.quiet) {
    const text = importSummary(summary, { files: files.length, bytes, ...options });
    // The trace has standard output for itself.
    print(text, options.output === undefined ? process.stderr : process.stdout);
  }
}
