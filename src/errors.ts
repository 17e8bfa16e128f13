/**
 * The one error class of rollflex.
 *
 * Every refusal gives the expected and the given value, and the path. Codes are strings; only a transport maps them to
 * numbers. Instances are recognised by a registered symbol, so that two copies of the package (ESM beside CJS, or two
 * versions in one tree) understand each other's errors.
 */

/** The closed set of error codes. */
export const policyErrorCodes = [
  'invalid_config',
  'invalid_event',
  'invalid_input',
  'unknown_id',
  'duplicate_id',
  'out_of_order',
  'infeasible',
  'snapshot_mismatch',
  'limit_exceeded',
  'closed',
  'internal',
] as const;

/**
 * One of {@link policyErrorCodes}:
 *
 * - `invalid_config`, `invalid_event`, `invalid_input`: a configuration, an event or another argument does not fit its schema
 * - `unknown_id`: an id that does not exist, or no longer; `duplicate_id`: an id that is in use
 * - `out_of_order`: an event that the current state does not allow
 * - `infeasible`: no plan satisfies the configuration or the input
 * - `snapshot_mismatch`: a snapshot of another policy or version, or a damaged one
 * - `limit_exceeded`: more than a server's or a planner's limit; `closed`: a session or connection that has ended
 * - `internal`: a defect of the policy, or a thread, a process or a file of the package that has failed; `got` says why
 */
export type PolicyErrorCode = (typeof policyErrorCodes)[number];

/** Details of a {@link PolicyError}. */
export interface PolicyErrorDetails {
  /** The accepted values, as a phrase: `an integer >= 1`. */
  readonly expected: string;
  /** The refused value, or a phrase from the caller that describes it. The message shortens a long value. */
  readonly got: unknown;
  /** Path of the bad field, such as `prompts[3].promptId`; empty for the whole value. */
  readonly path?: string;
  /** The error that caused this error, if any. */
  readonly cause?: unknown;
}

const tag = Symbol.for('rollflex.PolicyError');
const shownLength = 120;
const causeLength = 500;
const shownDigits = 12;

/** A text that an earlier error has already shortened. */
class Shown {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** Rounds off floating-point noise: 0.3 for 0.1 + 0.2. */
const rounded = (value: number): number =>
  Number.isSafeInteger(value) ? value : Number(value.toPrecision(shownDigits));

/** Writes a value for a message: as JSON if possible, at most 120 characters, numbers rounded to 12 digits. */
export function show(value: unknown): string {
  if (value instanceof Shown) return value.text;
  let text: string;
  if (typeof value === 'number') text = String(rounded(value));
  else if (typeof value === 'bigint') text = String(value);
  else if (value === undefined) text = 'nothing';
  else if (typeof value === 'function' || typeof value === 'symbol') text = typeof value;
  else {
    try {
      text = JSON.stringify(value, (_, one) => (typeof one === 'number' ? rounded(one) : one)) ?? typeof value;
    } catch {
      text = Object.prototype.toString.call(value);
    }
  }
  return cut(text, shownLength);
}

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Names and messages of an error and of its causes: the cause of a wrapped error often has the only useful text. */
function causeText(thrown: unknown, depth: number): string {
  if (typeof thrown === 'string') return thrown;
  if (typeof thrown !== 'object' || thrown === null) return show(thrown);
  const { name = 'Error', message, cause, errors } = thrown as Partial<Error> & { readonly errors?: unknown };
  if (typeof message !== 'string' && !(thrown instanceof Error)) return show(thrown);
  const inner = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  const below = inner === undefined || depth === 0 ? '' : causeText(inner, depth - 1);
  const isIncluded = below === '' || message?.includes(below.replace(/^\w*Error: /, ''));
  const head = `${name}: ${message || (isIncluded ? 'without a message' : '')}`.replace(/: $/, '');
  return isIncluded ? head : `${head}: ${below}`;
}

/**
 * The text of whatever was thrown, as the `got` of a refusal: names and messages, also of causes, in one line of at most 500
 * characters; a text that is longer ends with `…`. Never a stack.
 */
export function caused(thrown: unknown): unknown {
  let text: string;
  try {
    text = causeText(thrown, 3);
  } catch {
    // Reading its fields throws, too.
    text = Object.prototype.toString.call(thrown);
  }
  return new Shown(cut(text.replace(/\s*\n\s*/g, ' ').trim(), causeLength));
}

/**
 * The error for what has failed in another thread, process or engine, or by a defect: a refusal as it is; anything else as
 * `internal`, with the text of the cause.
 */
export function failure(expected: string, thrown: unknown, path = ''): PolicyError {
  return isPolicyError(thrown)
    ? thrown
    : new PolicyError('internal', { expected, got: caused(thrown), path, cause: thrown });
}

/** Thrown for every refusal. A `send` that throws this error has changed nothing. */
export class PolicyError extends Error {
  /** Always `PolicyError`. */
  override readonly name = 'PolicyError';
  /** Reason, from the closed set {@link policyErrorCodes}. */
  readonly code: PolicyErrorCode;
  /** Path of the bad field, or an empty string. */
  readonly path: string;
  /** The accepted values, as a phrase. */
  readonly expected: string;
  /** The refused value, shortened. */
  readonly got: string;

  /** Only rollflex calls this constructor; a host recognises these errors by `isPolicyError`. */
  constructor(code: PolicyErrorCode, details: PolicyErrorDetails) {
    const shown = show(details.got);
    // All digits are shown if rounding would hide the fault, as for 1.0000000000000002 where 1 is the limit.
    const isHidden = typeof details.got === 'number' && details.expected.endsWith(` ${shown}`);
    const got = isHidden ? String(details.got) : shown;
    const path = details.path ?? '';
    super(
      `${path === '' ? '' : `${path}: `}expected ${details.expected}, got ${got}`,
      details.cause === undefined ? undefined : { cause: details.cause },
    );
    this.code = code;
    this.path = path;
    this.expected = details.expected;
    this.got = got;
    Object.defineProperty(this, tag, { value: true });
  }

  /** Returns the error as plain data, for logs and protocols. */
  toJSON(): { code: PolicyErrorCode; message: string; path: string; expected: string; got: string } {
    return { code: this.code, message: this.message, path: this.path, expected: this.expected, got: this.got };
  }
}

/** Throws a {@link PolicyError}: the value at `path` (empty for the whole value) is not as expected. */
export function refuse(code: PolicyErrorCode, path: string, expected: string, got: unknown, cause?: unknown): never {
  throw new PolicyError(code, { expected, got, path, cause });
}

/** Whether a value is a {@link PolicyError} of this or another copy of the package. */
export function isPolicyError(value: unknown): value is PolicyError {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[tag] === true;
}

/**
 * Returns the same refusal with another path, such as the name of an option, and optionally another phrase for the accepted values.
 */
export const relocated = (error: PolicyError, path: string, expected = error.expected): PolicyError =>
  new PolicyError(error.code, { expected, got: new Shown(error.got), path, cause: error });

/** A refusal as plain data, with the stack of its cause: a thread sends this to the process that started it. */
export type PlainRefusal = Omit<ReturnType<PolicyError['toJSON']>, 'message'> & { readonly stack?: string | undefined };

/** Returns the refusal that `toJSON` has written, in another thread or process. */
export const revived = ({ code, expected, got, path, stack }: PlainRefusal): PolicyError => {
  const cause = stack === undefined ? undefined : Object.assign(new Error(got), { stack });
  return new PolicyError(code, { expected, got: new Shown(got), path, cause });
};
