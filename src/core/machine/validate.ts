/** Turns the first issue of a zod schema into a `PolicyError`, with its path, the expected and the given value. */
import type { z } from 'zod';
import { type PolicyErrorCode, refuse } from '../../errors.ts';
import { didYouMean, nearest, oneOf } from '../ids/nearest.ts';
import { keysAt, numberAt } from './schema-keys.ts';

type Path = readonly PropertyKey[];

/** So many keys are listed. */
const mostKeys = 12;

const longestStep = 100;
/** Writes one step of a path. A long key is cut: it may be as long as a message. */
const stepText = (step: PropertyKey): string => {
  const text = String(step);
  return text.length > longestStep ? `${text.slice(0, longestStep - 1)}…` : text;
};

/** Writes `['prompts', 3, 'promptId']` as `prompts[3].promptId`. */
export function pathText(path: Path): string {
  let text = '';
  for (const step of path)
    text += typeof step === 'number' ? `[${step}]` : `${text === '' ? '' : '.'}${stepText(step)}`;
  return text;
}

function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const step of path) at = (at as Record<PropertyKey, unknown> | undefined)?.[step];
  return at;
}

function expectation(issue: z.core.$ZodIssue, got?: unknown): string {
  switch (issue.code) {
    case 'invalid_value':
      return issue.values.length === 1 ? String(issue.values[0]) : oneOf(issue.values.map(String), got);
    case 'invalid_type':
      return issue.expected === 'int'
        ? 'a whole number'
        : `${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`;
    case 'too_small':
      return `${issue.origin} ${issue.inclusive ? '>=' : '>'} ${issue.minimum}`;
    case 'too_big':
      return `${issue.origin} ${issue.inclusive ? '<=' : '<'} ${issue.maximum}`;
    default: {
      // The value matches no alternative of the discriminated union.
      const { options } = issue as { readonly options?: readonly unknown[] };
      return options === undefined ? issue.message.replace(/^expected /i, '') : oneOf(options.map(String), got);
    }
  }
}

/** Returns the issue of the union's alternative that resembles the value most, which is the alternative with the deepest issue. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue;
  const first = issue.errors.flatMap(([one]) => (one === undefined ? [] : [one]));
  const alike = first.filter((one) => one.path.length > 0 || one.code !== 'invalid_type');
  const furthest = alike.reduce((one, other) => (other.path.length > one.path.length ? other : one), alike[0]!);
  if (furthest !== undefined) return innermost({ ...furthest, path: [...issue.path, ...furthest.path] });
  const types = first.map((one) => expectation(one));
  return types.length === 0 ? issue : { ...issue, message: `expected ${types.join(' or ')}` };
}

/** Picks the issue to report: the first one; but if a key is missing because it was mistyped, the issue of the mistyped key. */
function foremost(issues: readonly z.core.$ZodIssue[], schema: z.ZodType, value: unknown): z.core.$ZodIssue {
  const first = innermost(issues[0]!);
  const missing = first.path.at(-1);
  if (missing === undefined || valueAt(value, first.path) !== undefined) return first;
  const parent = pathText(first.path.slice(0, -1));
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys' || pathText(issue.path) !== parent) continue;
    const meant = issue.keys.find((key) => nearest(key, keysAt(schema, issue.path)) === missing);
    if (meant !== undefined) return { ...issue, keys: [meant] };
  }
  return first;
}

/** Says which keys an object may have, if they are few, and which of them was meant. */
function otherKeys(unknown: string, keys: readonly string[]): string {
  const allowed = [...new Set(keys)];
  const few = allowed.length > 0 && allowed.length <= mostKeys ? allowed.join(', ') : 'the schema has';
  return `no other keys than ${few}${didYouMean(unknown, allowed)}`;
}

/** Says what a field must be, with the bounds of a number; and that it must be there, if it is not. */
function fieldExpectation(schema: z.ZodType, issue: z.core.$ZodIssue, got: unknown): string {
  const isNumber = issue.code === 'invalid_type' && (issue.expected === 'number' || issue.expected === 'int');
  const expected = (isNumber ? numberAt(schema, issue.path) : undefined) ?? expectation(issue, got);
  return got === undefined && issue.path.length > 0 ? `${expected} (required)` : expected;
}

/**
 * Parses a value.
 *
 * @throws PolicyError with the given code, for the first issue
 */
export function parse<T>(schema: z.ZodType<T>, value: unknown, code: PolicyErrorCode, at = ''): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = foremost(result.error.issues, schema, value);
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const path = unknown === undefined ? issue.path : [...issue.path, unknown];
  const inner = pathText(path);
  const got = valueAt(value, path);
  const expected =
    unknown === undefined ? fieldExpectation(schema, issue, got) : otherKeys(unknown, keysAt(schema, issue.path));
  refuse(code, at === '' ? inner : inner === '' ? at : `${at}.${inner}`, expected, got);
}
