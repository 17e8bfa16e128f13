/** Detects the format of a file by its first line: a trainer's dump, a trace, quantiles, or rows with columns. */
import { refuse } from '../../../errors.ts';
import { hasKeys, jsonLine } from '../format.ts';
import { type TraceReader, traceReaders } from '../readers.ts';
import { CsvRows, isNumber } from './csv.ts';
import { tableDump } from './dialects.ts';
import type { DumpReader } from './dump.ts';
import { dumpLine, whatIs } from './line.ts';
import { dumpReaders } from './readers.ts';
import { expectedField, type FieldChoices, fieldsOf, type Role, roleOf } from './rows/fields.ts';
import { namesResponse } from './rows/layout.ts';
import { isRow, type Row } from './rows/value.ts';
import { RequestSessions } from './sessions.ts';

/** The format of a file's lines. */
export type Format =
  | { readonly kind: 'dump'; readonly id: string; readonly reader: DumpReader; readonly csv?: CsvRows }
  | {
      readonly kind: 'trace';
      readonly id: string;
      readonly read: TraceReader['read'];
    }
  | { readonly kind: 'quantiles'; readonly id: 'servegen' }
  | { readonly kind: 'requests'; readonly id: 'mooncake' };

const ofTrace = ({ id, read }: TraceReader): Format => ({ kind: 'trace', id, read });
const ofDump = (reader: DumpReader): Format => ({ kind: 'dump', id: reader.id, reader });
const isJson = (line: string): boolean => line.startsWith('{') || line.startsWith('[');

/** What the caller says of a file. */
export interface FormatOptions {
  /** Id of the reader to use. */
  readonly from?: string;
  readonly fields?: FieldChoices;
  /** The separator of CSV, from the line before. */
  readonly separator?: string | undefined;
}

/**
 * Returns the format of a file.
 *
 * @param line - the first line that is not blank, without white space around it
 * @param where - `file:line`, for errors
 * @param options - what is known of the file
 * @throws PolicyError `invalid_input` for a line that fits no format, and for a dump of another version
 */
export function formatOf(line: string, where: string, options: FormatOptions = {}): Format {
  const asked = dumpReaders.find(({ id }) => id === options.from);
  if (!isJson(line)) return ofText(line, where, asked, options);
  if (asked !== undefined) return ofDump(asked);
  return formatOfObject(line.startsWith('{') ? dumpLine(line, where) : {}, line, where, options);
}

/** Returns the format of a file by its first row; see {@link formatOf}. */
export function formatOfRow(row: Row, where: string, options: FormatOptions = {}): Format {
  const asked = dumpReaders.find(({ id }) => id === options.from);
  if (asked !== undefined) return ofDump(asked);
  return formatOfObject(
    row,
    JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)),
    where,
    options,
  );
}

function formatOfObject(row: Row, line: string, where: string, { fields = {} }: FormatOptions): Format {
  const isChosen = Object.keys(fields).some((role) => lengthRoles.includes(role as Role));
  const dump = isChosen ? undefined : dumpReaders.find((one) => one !== tableDump && one.detect(row));
  if (dump !== undefined) return ofDump(dump);
  if (hasKeys(line, ['rps'])) return { kind: 'quantiles', id: 'servegen' };
  if (RequestSessions.detect(line)) return { kind: 'requests', id: 'mooncake' };
  refuseOtherVersion(row, where, fields);
  const trace = traceReaders.find((one) => one.detect(line));
  if (trace !== undefined && !(trace.id === 'rollflex' && isOfOthers(row))) return ofTrace(trace);
  if (isChosen || tableDump.detect(row)) return ofDump(tableDump);
  const names = Object.keys(row);
  return refuse('invalid_input', where, expectedField(names), line.startsWith('[') ? whatIs(line) : names);
}

const lengthRoles: readonly Role[] = ['tokens', 'ids', 'mask', 'total', 'each', 'response', 'calls'];
const ownKeys = ['tokens', 'turns', 'correct', 'rewardSeconds', 'capped', 'censored'];

/** Whether a response has what only rollflex writes so: the time of its reward, or turns with their tokens. */
function isOwn({ tokens, rewardSeconds, turns }: Row): boolean {
  const [turn] = Array.isArray(turns) ? (turns as unknown[]) : [];
  return (
    typeof tokens === 'number' && (rewardSeconds !== undefined || (isRow(turn) && typeof turn.tokens === 'number'))
  );
}

/** Whether `responses` are not those of rollflex: texts, or objects with other fields. */
function isOfOthers({ responses }: Row): boolean {
  const [first] = Array.isArray(responses) ? (responses as unknown[]) : [];
  if (!isRow(first)) return responses !== undefined && first !== undefined;
  if (isOwn(first)) return false;
  return Object.keys(first).some((name) => !ownKeys.includes(name)) && namesResponse(Object.keys(first));
}

function ofText(
  line: string,
  where: string,
  asked: DumpReader | undefined,
  { separator, fields = {} }: FormatOptions,
): Format {
  const trace = traceReaders.find((one) => one.detect(line));
  if (trace !== undefined && asked === undefined) return ofTrace(trace);
  const isTable = asked === undefined || asked === tableDump;
  // A single word is no header, and neither is a line of JSON with a broken beginning.
  const csv = new CsvRows(line, separator);
  const names = Object.keys(csv.columns);
  const isChosen = Object.values(fields).some((path) => names.includes(path));
  if (isTable && (isNumber(line) || isChosen || namesResponse(names))) {
    return { kind: 'dump', id: tableDump.id, reader: tableDump, csv };
  }
  if (!isTable) jsonLine(line, where);
  const what = whatIs(line);
  const expected =
    what === line ? `a JSON object, or a header with ${expectedField(names)}` : 'JSON lines, or CSV with a header';
  return refuse('invalid_input', where, expected, what);
}

/** Whether the record has a prompt for its lists, so that they need no trainer to be understood. */
function hasOwnPrompt(row: Row): boolean {
  const fields = fieldsOf(row);
  return (['prompt', 'group'] as const).some((role) =>
    fields.get(role)?.some(({ value }) => typeof value === 'string' || typeof value === 'number'),
  );
}

/** Refuses a row with two fields of a trainer that fits none of the trainer's formats. The error names the missing fields. */
function refuseOtherVersion(row: Row, where: string, fields: FieldChoices): void {
  const marked = dumpReaders
    .map((reader) => ({ reader, count: reader.marks.filter((name) => name in row).length }))
    .reduce((best, one) => (one.count > best.count ? one : best));
  if (marked.count < 2 || Object.keys(fields).length > 0) return;
  const { id, needs, marks } = marked.reader;
  const missing = needs.filter((name) => !(name in row));
  // Names that others use, too, in a row that is understood without the trainer.
  const isUnderstood =
    id !== 'slime' &&
    hasOwnPrompt(row) &&
    missing.every((name) => roleOf(name) !== 'response' || namesResponse(Object.keys(row)));
  if (isUnderstood && (id === 'roll' || id === 'verl' || id === 'trajectory' || missing.length === 0)) return;
  if (
    id === 'slime' &&
    marks
      .filter((name) => name in row)
      .every((name) => name === 'response_length' || name === 'loss_mask' || name === 'status')
  )
    return;
  const keys = Object.keys(row).slice(0, 8).join(', ');
  refuse(
    'invalid_input',
    where,
    `${missing.join(', ') || needs.join(', ')}, which ${id} writes in the versions that are read`,
    `an object with ${keys}`,
  );
}
