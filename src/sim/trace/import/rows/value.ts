/** Values of dumps: numbers and booleans may be text, as CSV and `default=str` write them, and mean the same everywhere. */
import { refuse } from '../../../../errors.ts';

/** A row of a dump. */
export type Row = Readonly<Record<string, unknown>>;

/** No model has a context of so many tokens: a longer response is a wrong number. */
export const mostTokens = 10_000_000;

const nothing = new Set(['', 'nan', 'none', 'null', 'n/a', 'na', '<na>']);

/** Whether a value says nothing: absent, null, NaN, or a text for one of these. */
export const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  Number.isNaN(value) ||
  (typeof value === 'string' && value.length < 6 && nothing.has(value.trim().toLowerCase()));

/** Returns the list in a value: an array, or a typed array of a columnar file. */
export function listOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
    ? Array.from(value as unknown as ArrayLike<unknown>)
    : undefined;
}

/** Whether a value is an object with fields, and no list. */
export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && listOf(value) === undefined && !(value instanceof Date);

/** Whether a value is an item of a conversation. */
export const isMessage = (value: unknown): value is Row => isRow(value) && typeof value.role === 'string';

/** Whether a value is a conversation: a list of messages. */
export const isConversation = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(isMessage);

const thousands = /^\d{1,3}(,\d{3})+$/;
const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Returns the number in a value; undefined for any other value. A decimal comma is one. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (number.test(text)) return Number(text);
  return /^[+-]?\d+,\d+$/.test(text) ? Number(text.replace(',', '.')) : undefined;
}

/** Returns the count in a value; undefined for any other value. `1,024` is a count, and so is `812.0`. */
export function countIn(value: unknown): number | undefined {
  const found =
    typeof value === 'string' && thousands.test(value.trim()) ? Number(value.replaceAll(',', '')) : numberOf(value);
  return found !== undefined && Number.isSafeInteger(found) && found >= 0 ? found : undefined;
}

/** Reads a count; undefined where there is none. Throws `invalid_input` at this place for anything that is no count. */
export function countOf(value: unknown, where: string): number | undefined {
  if (isEmpty(value)) return undefined;
  return countIn(value) ?? refuse('invalid_input', where, 'a whole number >= 0', value);
}

/** Reads a number of tokens. Throws `invalid_input` at this place, also for more than any model has. */
export function tokensAt(value: unknown, where: string): number {
  const count = countOf(value, where) ?? refuse('invalid_input', where, 'a whole number >= 0', value);
  if (count <= mostTokens) return count;
  return refuse('invalid_input', where, `at most ${mostTokens} tokens: no model has a longer context`, value);
}

const yes = new Set<unknown>([true, 1, '1', 'true', 'yes', 't', 'y', '1.0']);
const no = new Set<unknown>([false, 0, '0', 'false', 'no', 'f', 'n', '0.0']);

/** Returns the boolean in a value; undefined for any other value. */
export function flagOf(value: unknown): boolean | undefined {
  const key =
    typeof value === 'string' ? value.trim().toLowerCase() : typeof value === 'bigint' ? Number(value) : value;
  return yes.has(key) ? true : no.has(key) ? false : undefined;
}

/** Reads a mask: a list of zeros and ones. Undefined for any other value. */
export function maskOf(value: unknown): readonly boolean[] | undefined {
  const list = listOf(value);
  if (list === undefined || list.length === 0) return undefined;
  const flags: boolean[] = [];
  for (const one of list) {
    const flag = flagOf(one);
    if (flag === undefined) return undefined;
    flags.push(flag);
  }
  return flags;
}

/** Returns whether a response is correct, by its score: a number, a boolean, an object with `acc` or `score`, or one for each token. */
export function correctBy(score: unknown, correctFrom: number | undefined): boolean | undefined {
  if (typeof score === 'boolean') return score;
  if (typeof score === 'string' && !number.test(score.trim()) && flagOf(score) !== undefined) return flagOf(score);
  if (isRow(score)) {
    const acc = flagOf(score.acc);
    return acc ?? (isRow(score.score) ? undefined : correctBy(score.score, correctFrom));
  }
  const list = listOf(score);
  const value = list === undefined ? numberOf(score) : list.reduce<number>((sum, one) => sum + (numberOf(one) ?? 0), 0);
  if (value === undefined || Number.isNaN(value)) return undefined;
  if (correctFrom !== undefined) return value >= correctFrom;
  return value === 1 ? true : value === 0 || value === -1 ? false : undefined;
}
