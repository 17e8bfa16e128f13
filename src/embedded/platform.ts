/** Platform functions for policies, in an engine that has only the language itself. This file runs before all others. */

/** Counts the bytes of a text in UTF-8. */
function utf8Length(text: string): number {
  let bytes = 0;
  for (const letter of text) {
    const code = letter.codePointAt(0)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

function clone(value: unknown): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') throw new TypeError(`${typeof value} cannot be cloned`);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(clone);
  if (value instanceof Map) return new Map([...value].map(([key, one]) => [clone(key), clone(one)]));
  if (value instanceof Set) return new Set([...value].map(clone));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError('only plain values can be cloned');
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, clone(one)]));
}

const platform: object = {
  structuredClone: clone,
  // Callers use only the length of the result.
  TextEncoder: class {
    encode(text: string): { readonly length: number } {
      return { length: utf8Length(text) };
    }
  },
};
for (const [name, value] of Object.entries(platform)) {
  if (!(name in globalThis)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

export {};
