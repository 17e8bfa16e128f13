/** `rollflex import`: from the dumps of a trainer to a trace. */
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, realpathSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import ora from 'ora';
import { PolicyError } from '../errors.ts';
import type { TextTokens } from '../sim/trace/import/dump.ts';
import { DumpImport, type DumpSummary } from '../sim/trace/import/import.ts';
import { checkWritable } from './files.ts';
import { type DumpFile, dumpFiles, dumpLines } from './import-files.ts';
import { importSummary } from './import-summary.ts';
import { print, printJson } from './output.ts';
import { fileTokenizer, tokensPerCharacter } from './tokenizer.ts';

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
const linesInChunk = 1000;

/** Reads the dumps, writes the trace, and says what came of it. */
export async function runImport(paths: readonly string[], options: ImportOptions): Promise<void> {
  check(options);
  const files = dumpFiles(paths);
  if (options.output !== undefined) checkOutput(options.output, files);
  const textTokens = await textTokensOf(options);
  const dump = new DumpImport({
    fingerprint,
    ...(options.from === undefined ? undefined : { from: options.from }),
    ...(textTokens === undefined ? undefined : { textTokens }),
    ...(options.cap === undefined ? undefined : { capTokens: options.cap }),
    ...(options.correctFrom === undefined ? undefined : { correctFrom: options.correctFrom }),
    skipBroken: options.skipBroken === true,
  });
  await readAll(files, dump, options);
  const summary = dump.summary();
  await write(dump, options.output);
  report(summary, files, options);
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

function checkOutput(output: string, files: readonly DumpFile[]): void {
  checkWritable(output, '--output');
  if (!existsSync(output)) return;
  const same = files.find(({ name }) => name !== '-' && realpathSync(name) === realpathSync(output));
  if (same === undefined) return;
  throw new PolicyError('invalid_input', { expected: 'a file that is not read', got: output, path: '--output' });
}

async function textTokensOf({ tokenizer, tokensPerCharacter: factor }: ImportOptions): Promise<TextTokens | undefined> {
  if (tokenizer !== undefined) return fileTokenizer(tokenizer);
  return factor === undefined ? undefined : tokensPerCharacter(factor);
}

async function readAll(files: readonly DumpFile[], dump: DumpImport, options: ImportOptions): Promise<void> {
  const terminal = process.stderr.isTTY === true && process.stderr.columns > 0;
  const show = terminal && !options.quiet && !options.json;
  const spinner = ora({ isEnabled: show, isSilent: !show, text: 'reading' }).start();
  let shownAt = 0;
  try {
    for (const file of files) {
      for await (const { text, number } of dumpLines(file)) {
        dump.line(text, file.name, number, file.step);
        if (!show || Date.now() - shownAt < millisecondsBetweenTexts) continue;
        shownAt = Date.now();
        spinner.text = `reading ${file.name}: line ${number}, ${dump.responses} responses in all`;
        // Lines of one chunk come without a pause: the spinner needs one.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  } catch (error) {
    throw withOptions(error);
  } finally {
    spinner.stop();
  }
}

/** The library knows no options of the command line. */
function withOptions(error: unknown): unknown {
  if (!(error instanceof PolicyError) || error.code !== 'invalid_config') return error;
  const expected = `--tokenizer tokenizer.json, or --tokens-per-character N for an estimate: this dump has text, and no count of tokens`;
  return new PolicyError('invalid_input', { expected, got: 'neither', path: error.path });
}

async function write(dump: DumpImport, output: string | undefined): Promise<void> {
  const chunks = function* (): Generator<string> {
    let lines: string[] = [];
    for (const prompt of dump.prompts()) {
      if (lines.push(`${JSON.stringify(prompt)}\n`) < linesInChunk) continue;
      yield lines.join('');
      lines = [];
    }
    yield lines.join('');
  };
  if (output === undefined) await pipeline(Readable.from(chunks()), process.stdout, { end: false });
  else await pipeline(Readable.from(chunks()), createWriteStream(output));
}

function report(summary: DumpSummary, files: readonly DumpFile[], options: ImportOptions): void {
  const bytes = files.reduce((sum, one) => sum + one.bytes, 0);
  if (options.json) printJson({ ...summary, files: files.length, bytes, output: options.output });
  else if (!options.quiet) {
    const text = importSummary(summary, { files: files.length, bytes, ...options });
    // The trace has standard output for itself.
    if (options.output === undefined) process.stderr.write(`${text}\n`);
    else print(text);
  }
}
