/** `rollflex import`: converts the dumps of a trainer to a trace. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { oneLine, printable } from '../../core/ids/printable.ts';
import { refuse } from '../../errors.ts';
import type { DumpImport, DumpSummary } from '../../sim/trace/import/import.ts';
import { FileNotes } from '../files/input/notes.ts';
import { type InputFile, inputFiles, readPaths } from '../files/input/paths.ts';
import { collector, type ReadOptions, readInto } from '../files/input/read.ts';
import { tokenizerFiles } from '../files/input/tokenizer.ts';
import { checkOutputs, writeWhole } from '../files/written.ts';
import { print, printJson } from '../terminal/output.ts';
import { Progress } from '../terminal/progress.ts';
import { importSummary } from './text.ts';

/** Options as the command line gives them. */
export interface ImportOptions extends ReadOptions {
  readonly output?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

const linesInChunk = 1000;

/** Reads the dumps, writes the trace, and prints the outcome. */
export async function runImport(paths: readonly string[], options: ImportOptions): Promise<void> {
  const { output, json, quiet, ...reading } = options;
  if (json && output === undefined) {
    const expected = '--output FILE with --json: the trace goes to standard output without it';
    refuse('invalid_input', '--json', expected, 'none');
  }
  const notes = new FileNotes();
  const files = inputFiles(paths, notes);
  const tokenizer = options.tokenizer === undefined ? [] : tokenizerFiles(options.tokenizer);
  checkOutputs({ '--output': output }, [...readPaths(files), ...tokenizer]);
  const dump = await collector(reading);
  const progress = new Progress({ text: 'reading', isQuiet: quiet === true || json === true });
  let summary: DumpSummary;
  try {
    await readInto(dump, files, progress, notes, reading);
    summary = await progress.step(() => dump.summary());
  } finally {
    progress.stop();
  }
  if (options.output === undefined) await pipeline(Readable.from(traceLines(dump)), process.stdout, { end: false });
  report(summary, { files, notes }, options);
  if (options.output !== undefined) writeWhole(options.output, traceLines(dump));
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

interface Read {
  readonly files: readonly InputFile[];
  readonly notes: FileNotes;
}

function report(summary: DumpSummary, { files, notes }: Read, options: ImportOptions): void {
  const bytes = files.reduce((sum, one) => sum + one.bytes, 0);
  if (options.json) printJson({ ...summary, files: files.length, bytes, ...notes.toJSON(), output: options.output });
  else if (!options.quiet) {
    const notRead = notes.rows().map(([word, text]) => oneLine(`${word.padEnd(8)} ${text}`));
    const text = importSummary(summary, { files: files.length, bytes, ...options });
    // Standard output contains the trace and nothing else.
    print([...notRead, text].join('\n'), options.output === undefined ? process.stderr : process.stdout);
  }
}
