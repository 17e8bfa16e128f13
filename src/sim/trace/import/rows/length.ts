/** The length of a response: counted in the dump, if anything in it counts, and else in the text. */
import { refuse } from '../../../../errors.ts';
import { generatedIn, type TraceTurn } from '../../format.ts';
import { type DumpContext, tokensOfText } from '../dump.ts';
import { conversationIn, turnsOf } from '../trajectory.ts';
import { type Fields, type Found, fieldsOf, type Role, roleName } from './fields.ts';
import type { Unit } from './layout.ts';
import { countIn, isEmpty, isRow, listOf, maskOf, type Row, tokensAt } from './value.ts';

/** The length of a response. */
export interface Length {
  readonly tokens: number;
  /** The fields that it is from. */
  readonly from: readonly (readonly [role: Role, path: string])[];
  readonly isFromText?: boolean;
  /** How it was estimated, if it was. */
  readonly estimated?: string;
  readonly turns?: readonly TraceTurn[];
  /** Tokens before the first generated one, where a mask tells. */
  readonly promptTokens?: number;
}

/** A text with fewer characters may have as many tokens. */
const leastCharacters = 32;

/** Returns the first field with a value; `undefined` if none has one. */
export const firstOf = (fields: Fields, role: Role): Found | undefined => {
  const found = fields.get(role)?.[0];
  return found === undefined || isEmpty(found.value) ? undefined : found;
};

/** Returns the place of a field, for errors: `file:line.path`. */
export const placeOf = ({ at, slice }: Pick<Unit, 'at' | 'slice'>, path: string, where: string): string =>
  `${where}${at}.${path}${slice?.names.has(path) === true ? `[${slice.index}]` : ''}`;

/**
 * Returns the length; `undefined` if no field has one.
 *
 * @throws PolicyError `invalid_input` for a field that is no count, and where two fields say different lengths; `invalid_config` for
 *   text without a way to count
 */
export function lengthOf(unit: Unit, context: DumpContext): Length | undefined {
  return (
    masked(unit) ??
    counted(unit, context) ??
    listed(unit) ??
    difference(unit, context) ??
    loosely(unit, context) ??
    inText(unit, context)
  );
}

function masked({ fields }: Unit): Length | undefined {
  const found = firstOf(fields, 'mask');
  const mask = maskOf(found?.value);
  if (mask === undefined) return undefined;
  const tokens = mask.reduce((sum, on) => sum + Number(on), 0);
  // A sample that is not trained has zeros only: others say how long it is, if there are others.
  const isAlone = (['tokens', 'length', 'ids', 'response'] as const).every(
    (role) => firstOf(fields, role) === undefined,
  );
  if (tokens === 0 && !isAlone) return undefined;
  return { tokens, from: [['mask', found!.path]], promptTokens: Math.max(0, mask.indexOf(true)) };
}

function counted(unit: Unit, context: DumpContext): Length | undefined {
  const { fields, sum } = unit;
  const { where } = context;
  let best: Length | undefined;
  for (const { path, value, rank } of fields.get('tokens') ?? []) {
    if (isEmpty(value) || isRow(value)) continue;
    const list = listOf(value);
    const place = placeOf(unit, path, where);
    const tokens = tokensAt(list === undefined ? value : list.length, place);
    if (best === undefined) {
      if (rank >= 0) refuseCharacters(unit, tokens, path, place);
      best = { tokens, from: [['tokens', path]] };
    } else if (best.tokens !== tokens && list === undefined) refuseTwo(best, ['tokens', path], tokens, place);
  }
  if (sum !== undefined) return best;
  const calls = ofCalls(unit, context, best === undefined);
  if (best !== undefined && calls !== undefined && calls.tokens !== best.tokens) {
    refuseTwo(best, calls.from[0]!, calls.tokens, placeOf(unit, best.from[0]![1], where));
  }
  return best ?? calls;
}

function refuseTwo(
  { tokens, from }: Length,
  [role, other]: readonly [Role, string],
  others: number,
  place: string,
): never {
  const expected = `--field tokens=${from[0]?.[1]} or --field ${roleName(role)}=${other}: both may be the length of the response`;
  return refuse('invalid_input', place, expected, `${tokens} and ${others}`);
}

/** Refuses a count that is the number of characters of the text. */
function refuseCharacters({ fields }: Unit, tokens: number, path: string, place: string): void {
  const text = firstOf(fields, 'response');
  if (typeof text?.value !== 'string' || text.value.length < leastCharacters || text.value.length !== tokens) return;
  const expected = `--field tokens=${path}, if these are tokens, or --field tokens=none, if they are characters, as many as ${text.path} has`;
  refuse('invalid_input', place, expected, tokens);
}

const notGenerated = /^(tool|user|system|env|observation|human|function)/i;

/** Adds up the calls of a trajectory; what tools and users said is no call. */
function ofCalls({ fields, at }: Unit, context: DumpContext, mayBeText: boolean): Length | undefined {
  const found = firstOf(fields, 'calls');
  const list = listOf(found?.value);
  if (found === undefined || list === undefined || list.length === 0 || !list.every(isRow)) return undefined;
  const hasText = firstOf(fields, 'response') !== undefined;
  const lengths = list.flatMap((call, index) => {
    if ([call.role, call.type, call.kind].some((one) => typeof one === 'string' && notGenerated.test(one))) return [];
    const inner: Unit = { fields: fieldsOf(call), at: `${at}.${found.path}[${index}]`, isOfLine: false };
    const length =
      masked(inner) ??
      counted(inner, context) ??
      listed(inner) ??
      difference(inner, context) ??
      loosely(inner, context);
    return length ?? (mayBeText && !hasText ? (inText(inner, context) ?? []) : []);
  });
  if (lengths.length === 0) return undefined;
  return {
    tokens: lengths.reduce((sum, { tokens }) => sum + tokens, 0),
    from: [['calls', found.path]],
    isFromText: lengths.some(({ isFromText }) => isFromText === true),
  };
}

function listed({ fields }: Unit): Length | undefined {
  for (const role of ['ids', 'length'] as const) {
    const found = firstOf(fields, role);
    const list = listOf(found?.value);
    if (list !== undefined) return { tokens: list.length, from: [['ids', found!.path]] };
  }
  return undefined;
}

/** Tokens of prompt and response without those of the prompt. */
function difference(unit: Unit, { where }: DumpContext): Length | undefined {
  const total = firstOf(unit.fields, 'total');
  if (total === undefined || listOf(total.value) !== undefined || isRow(total.value)) return undefined;
  const prompt = firstOf(unit.fields, 'promptTokens') ?? firstOf(unit.fields, 'promptIds');
  const ofPrompt = prompt === undefined ? undefined : (countIn(prompt.value) ?? listOf(prompt.value)?.length);
  if (ofPrompt === undefined) return undefined;
  const place = placeOf(unit, total.path, where);
  const all = tokensAt(total.value, place);
  if (all < ofPrompt) refuse('invalid_input', place, `at least ${ofPrompt}, the tokens of the prompt`, all);
  return {
    tokens: all - ofPrompt,
    from: [
      ['total', total.path],
      ['promptTokens', prompt!.path],
    ],
  };
}

/** Counts under names that may mean something else, and lists with an item for each token. */
function loosely(unit: Unit, { where }: DumpContext): Length | undefined {
  const found = firstOf(unit.fields, 'length');
  const text = firstOf(unit.fields, 'response')?.value;
  if (found !== undefined && !isRow(found.value)) {
    const tokens = tokensAt(found.value, placeOf(unit, found.path, where));
    // As many as characters: it is their number.
    if (typeof text !== 'string' || text.length < leastCharacters || text.length !== tokens || found.rank < 0) {
      return { tokens, from: [['tokens', found.path]] };
    }
  }
  const each = firstOf(unit.fields, 'each');
  const list = listOf(each?.value);
  return list === undefined ? undefined : { tokens: list.length, from: [['each', each!.path]] };
}

function inText(unit: Unit, context: DumpContext): Length | undefined {
  const { sum } = unit;
  if (sum !== undefined && context.textTokens?.method !== 'tokenizer') {
    const shared = shareOf(sum, placeOf(unit, sum.found.path, context.where));
    if (shared !== undefined) return shared;
  }
  for (const { path, value } of unit.fields.get('response') ?? []) {
    // An empty text is one, and so is "None": the end of a text is a token, too.
    if (value === null || value === undefined || Number.isNaN(value) || isRow(value)) continue;
    const place = { ...context, where: placeOf(unit, path, context.where) };
    const list = conversationIn(value) ?? answersIn(value);
    if (list !== undefined) {
      const { turns } = turnsOf(list, path, context);
      return { tokens: generatedIn(turns), turns, from: [['response', path]], isFromText: true };
    }
    if (typeof value !== 'string') refuse('invalid_input', place.where, 'a string', value);
    if (/^\s*\[?\{'(role|content)'/.test(value)) {
      refuse(
        'invalid_input',
        place.where,
        'text, or messages in JSON (json.dumps)',
        `Python's repr of messages: ${value.slice(0, 40)}`,
      );
    }
    return {
      tokens: tokensOfText(value, context, place.where.slice(context.where.length + 1)),
      from: [['response', path]],
      isFromText: true,
    };
  }
  return undefined;
}

/** The parts of an answer of OpenAI's responses that the model has generated, as messages. */
function answersIn(value: unknown): readonly Row[] | undefined {
  const list = listOf(value);
  if (list === undefined || list.length === 0 || !list.every(isRow)) return undefined;
  if (list.some((one) => typeof one.type !== 'string')) return undefined;
  return list
    .filter(({ type }) => type === 'message' || type === 'function_call' || type === 'reasoning')
    .map(({ type, content, name, arguments: given, summary }) => ({
      role: 'assistant',
      content:
        type === 'message' ? content : type === 'reasoning' ? (summary ?? content) : `${String(name)}${String(given)}`,
    }));
}

/** The part of a sum of tokens that the characters of a text are of all texts. */
function shareOf({ found, texts, index }: NonNullable<Unit['sum']>, place: string): Length | undefined {
  if (texts.some((text) => text === undefined)) return undefined;
  const total = tokensAt(found.value, place);
  const characters = texts.map((text) => text!.length);
  const all = characters.reduce((sum, one) => sum + one, 0);
  if (all === 0) return undefined;
  const upTo = (count: number): number =>
    Math.round((total * characters.slice(0, count).reduce((sum, one) => sum + one, 0)) / all);
  return {
    tokens: upTo(index + 1) - upTo(index),
    from: [['tokens', found.path]],
    estimated: `${found.path} of several responses together, divided by their characters`,
  };
}
