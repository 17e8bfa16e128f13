/** Reads fields of a request, and refuses wrong types. `null` means that a field is not given. */
import { type Json, refuse } from './http.ts';

/** Reads the fields of one object. */
export class Fields {
  readonly #object: Json;
  readonly #path: string;

  constructor(object: Json, path = '') {
    this.#object = object;
    this.#path = path;
  }

  /** Returns the value of a field, of any type. */
  raw(name: string): unknown {
    return this.#object[name] ?? undefined;
  }

  string(name: string): string | undefined {
    return this.#of(name, 'a string', (value) => typeof value === 'string') as string | undefined;
  }

  boolean(name: string): boolean | undefined {
    return this.#of(name, 'true or false', (value) => typeof value === 'boolean') as boolean | undefined;
  }

  /** Returns a whole number, at least `least`. Where any will do, it may have 64 bits, as the seeds of clients have. */
  whole(name: string, least: number): number | undefined {
    const isAny = least === Number.MIN_SAFE_INTEGER;
    const fits = (value: unknown) =>
      isAny ? Number.isInteger(value) : Number.isSafeInteger(value) && (value as number) >= least;
    const what = isAny ? 'a whole number' : `a whole number >= ${least}`;
    return this.#of(name, what, fits) as number | undefined;
  }

  object(name: string): Fields {
    const fits = (value: unknown) => typeof value === 'object' && !Array.isArray(value);
    const value = this.#of(name, 'an object', fits) as Json | undefined;
    return new Fields(value ?? {}, `${this.#path}${name}.`);
  }

  #of(name: string, expected: string, fits: (value: unknown) => boolean): unknown {
    const value = this.raw(name);
    if (value === undefined || fits(value)) return value;
    return refuse(`${this.#path}${name}: expected ${expected}, got ${JSON.stringify(value)?.slice(0, 80)}`);
  }
}

/** Whether a value is a list of token ids. */
export function isTokenIds(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => Number.isSafeInteger(one) && one >= 0);
}
