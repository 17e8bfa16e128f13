/** Reads the text of a file of any format as a trace. */
import type { TracePrompt } from './format.ts';
import { DumpImport, type DumpImportOptions } from './import/import.ts';
import type { PileUp } from './import/pile-up.ts';
import { JsonArrayReader } from './json-array.ts';
import type { QuantileRow } from './quantiles.ts';

/** The content of trace files: prompts with their responses, or quantiles. */
export type Trace =
  | {
      readonly kind: 'prompts';
      readonly reader: string;
      readonly prompts: readonly TracePrompt[];
      /** The limit that lengths pile up at, which was taken for that of the dump; absent if they do not. */
      readonly pileUp?: PileUp;
    }
  | { readonly kind: 'quantiles'; readonly reader: string; readonly rows: readonly QuantileRow[] };

/** Returns the trace from the lines. Throws `invalid_input` for an empty trace. */
export function traceOf(lines: DumpImport): Trace {
  const rows = lines.quantiles;
  if (rows !== undefined && rows.length > 0) return { kind: 'quantiles', reader: 'servegen', rows };
  const prompts = [...lines.prompts()];
  const { pileUp } = lines;
  return { kind: 'prompts', reader: lines.reader!, prompts, ...(pileUp === undefined ? {} : { pileUp }) };
}

/** Hashes a text twice with FNV-1a over its UTF-16 code units, with two initial values: 64 bits, the same on all machines. */
function fingerprintOf(text: string): string {
  let [one, other] = [0x811c9dc5, 0x01234567];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ (code + at), 0x01000193);
  }
  return [one, other].map((hash) => (hash >>> 0).toString(16).padStart(8, '0')).join('');
}

/**
 * Reads a trace, or a dump of a trainer.
 *
 * @param text - the whole file
 * @param file - its name, for errors
 * @param options - options for dumps; by default, fingerprints have 64 bits
 * @throws PolicyError `invalid_input` for an unknown format, a broken line, or a prompt id that occurs twice (`file:line`), and for
 *   a file without prompts
 */
export function readTrace(text: string, file = 'trace', options: Partial<DumpImportOptions> = {}): Trace {
  const lines = new DumpImport({ fingerprint: fingerprintOf, ...options });
  // An empty line passes on the name of the file, for the error about an empty file.
  lines.line('', file, 1);
  if (text.trimStart().startsWith('[')) {
    const elements = new JsonArrayReader(file, Number.POSITIVE_INFINITY);
    // `trim` also removes a byte order mark.
    for (const { text: element, number } of elements.read(new TextEncoder().encode(text.replace(/^\uFEFF/, ''))))
      lines.line(element, file, number);
    elements.end();
  } else for (const [index, line] of text.split('\n').entries()) lines.line(line, file, index + 1);
  return traceOf(lines);
}
