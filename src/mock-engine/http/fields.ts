/** Reads fields of a request, and refuses wrong types. `null` means that a field is not given. */
import { type Json, refuse } from './http.ts';

/** Refuses a field's type in the words of the real servers' frameworks. Throws `HttpError`. */
export function refuseField(path: string, expected: string, got: unknown, param = `body.${path}`): never {
  const shown = JSON.stringify(got)?.slice(0, 80);
  return refuse(`${path}: expected ${expected}, got ${shown}`, 400, { type: 'Bad Request', param });
}

/** Reads the fields of one object. */
export class Fields {
  readonly #object: Json;
  readonly #path: string;
  readonly #param: string | undefined;
  readonly #isStrict: boolean;

  /**
   * @param param - name in errors, instead of the field's own
   * @param isStrict - whether numbers and booleans must not be written as text
   */
  constructor(object: Json, path = '', param?: string, isStrict = false) {
    this.#object = object;
    this.#path = path;
    this.#param = param;
    this.#isStrict = isStrict;
  }

  /** Names of the fields. */
  get names(): string[] {
    return Object.keys(this.#object);
  }

  /** Returns the value of a field, of any type. */
  raw(name: string): unknown {
    return this.#object[name] ?? undefined;
  }

  string(name: string): string | undefined {
    return this.#of(name, 'a string', (value) => (typeof value === 'string' ? value : undefined));
  }

  boolean(name: string): boolean | undefined {
    return this.#of(name, 'true or false', (value) =>
      booleans.get(typeof value === 'string' ? value.toLowerCase() : value),
    );
  }

  number(name: string): number | undefined {
    return this.#of(name, 'a number', numberIn);
  }

  /** Returns a whole number, at least `least`. If any number is allowed, it may have 64 bits, like the seeds of clients. */
  whole(name: string, least = Number.MIN_SAFE_INTEGER): number | undefined {
    const isAny = least === Number.MIN_SAFE_INTEGER;
    const what = isAny ? 'a whole number' : `a whole number >= ${least}`;
    return this.#of(name, what, (value) => {
      const number = numberIn(value);
      const fits = isAny ? Number.isInteger(number) : Number.isSafeInteger(number) && number! >= least;
      return fits ? number : undefined;
    });
  }

  /** Returns the fields of an object; the fields of an empty object if it is absent. */
  object(name: string, param?: string): Fields {
    const isObject = (value: unknown): value is Json => typeof value === 'object' && !Array.isArray(value);
    const value = this.#of(name, 'an object', (one) => (isObject(one) ? one : undefined));
    return new Fields(value ?? {}, `${this.#path}${name}.`, param ?? this.#param, this.#isStrict);
  }

  #of<T>(name: string, expected: string, read: (value: unknown) => T | undefined): T | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    const isText = this.#isStrict && typeof value === 'string' && expected !== 'a string';
    return (isText ? undefined : read(value)) ?? refuseField(`${this.#path}${name}`, expected, value, this.#param);
  }
}

const booleans: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  ...[true, 1, 'true', '1', 't', 'yes', 'y', 'on'].map((one) => [one, true] as const),
  ...[false, 0, 'false', '0', 'f', 'no', 'n', 'off'].map((one) => [one, false] as const),
]);

function numberIn(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Whether a value is a list of token ids. */
export function isTokenIds(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => Number.isSafeInteger(one) && one >= 0);
}
