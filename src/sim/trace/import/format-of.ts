/** Detects the format of a file by its first line: a trainer's dump, a trace, quantiles, or rows with columns. */
import { refuse } from '../../../errors.ts';
import { hasKeys, jsonLine, type TracePrompt } from '../format.ts';
import { type TraceReader, traceReaders } from '../readers.ts';
import { CsvRows, isNumber } from './csv.ts';
import type { DumpReader } from './dump.ts';
import { dumpLine } from './line.ts';
import { dumpReaders } from './readers.ts';
import { RequestSessions } from './sessions.ts';
import { tableColumns, tableDump } from './table.ts';

/** The format of a file's lines. */
export type Format =
  | { readonly kind: 'dump'; readonly id: string; readonly reader: DumpReader; readonly csv?: CsvRows }
  | {
      readonly kind: 'trace';
      readonly id: string;
      readonly read: (line: string, where: string) => TracePrompt | undefined;
    }
  | { readonly kind: 'quantiles'; readonly id: 'servegen' }
  | { readonly kind: 'requests'; readonly id: 'mooncake' };

/** Ids of all formats, for messages. */
const formatIds: readonly string[] = [
  ...traceReaders.map(({ id }) => id),
  'servegen',
  RequestSessions.id,
  ...dumpReaders.map(({ id }) => id),
];

const ofTrace = ({ id, read }: TraceReader): Format => ({ kind: 'trace', id, read });
const ofDump = (reader: DumpReader): Format => ({ kind: 'dump', id: reader.id, reader });
const isJson = (line: string): boolean => line.startsWith('{') || line.startsWith('[');

/**
 * Returns the format of a file.
 *
 * @param line - the first line that is not blank, without white space around it
 * @param where - `file:line`, for errors
 * @param from - id of the reader to use
 * @throws PolicyError `invalid_input` for a line that fits no format, and for a dump of another version
 */
export function formatOf(line: string, where: string, from?: string): Format {
  const asked = dumpReaders.find(({ id }) => id === from);
  if (!isJson(line)) return ofText(line, where, asked);
  if (asked !== undefined) return ofDump(asked);
  const row = line.startsWith('{') ? dumpLine(line, where) : {};
  const dump = dumpReaders.find((one) => one !== tableDump && one.detect(row));
  if (dump !== undefined) return ofDump(dump);
  if (hasKeys(line, ['rps'])) return { kind: 'quantiles', id: 'servegen' };
  if (RequestSessions.detect(line)) return { kind: 'requests', id: 'mooncake' };
  refuseOtherVersion(row, where);
  const trace = traceReaders.find((one) => one.detect(line));
  if (trace !== undefined) return ofTrace(trace);
  if (tableDump.detect(row)) return ofDump(tableDump);
  return refuse('invalid_input', where, `one of the formats ${formatIds.join(', ')}`, line);
}

function ofText(line: string, where: string, asked: DumpReader | undefined): Format {
  const trace = traceReaders.find((one) => one.detect(line));
  if (trace !== undefined && asked === undefined) return ofTrace(trace);
  const isTable = asked === undefined || asked === tableDump;
  // A single word is no header, and neither is a line of JSON with a broken beginning.
  const csv = new CsvRows(line);
  if (isTable && (isNumber(line) || tableDump.detect(csv.columns))) {
    return { kind: 'dump', id: tableDump.id, reader: tableDump, csv };
  }
  if (!isTable) jsonLine(line, where);
  return refuse('invalid_input', where, `a JSON object, or a header with ${tableColumns}`, line);
}

/** Refuses a row with two fields of a trainer that fits none of the trainer's formats. The error names the missing fields. */
function refuseOtherVersion(row: Readonly<Record<string, unknown>>, where: string): void {
  const marked = dumpReaders
    .map((reader) => ({ reader, count: reader.marks.filter((name) => name in row).length }))
    .reduce((best, one) => (one.count > best.count ? one : best));
  if (marked.count < 2) return;
  const { id, needs } = marked.reader;
  const missing = needs.filter((name) => !(name in row)).join(', ') || needs.join(', ');
  const keys = Object.keys(row).slice(0, 8).join(', ');
  refuse(
    'invalid_input',
    where,
    `${missing}, which ${id} writes in the versions that are read`,
    `an object with ${keys}`,
  );
}
