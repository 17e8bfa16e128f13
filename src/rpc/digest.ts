/** A digest of the events of a call, by which a retry is told apart from another call with the same number. */

const prime = 0x01000193;
const scramble = 0x85ebca6b;
const double = new Float64Array(1);
const halves = new Uint32Array(double.buffer);

/** Digest of a JSON value: a whole number below 2^32. The order of the keys of an object does not matter. */
export function digestOf(value: unknown): number {
  return digest(value, 0x811c9dc5) >>> 0;
}

function digest(value: unknown, from: number): number {
  if (typeof value === 'string') return ofText(value, from);
  if (typeof value === 'number') {
    double[0] = value;
    return mixed(mixed(from, halves[0]!), halves[1]!);
  }
  if (typeof value !== 'object' || value === null) return ofText(String(value), ~from);
  if (Array.isArray(value)) return value.reduce((all: number, one) => mixed(digest(one, all), 1), mixed(from, 2));
  let sum = 3;
  for (const key in value) sum += digest((value as Record<string, unknown>)[key], ofText(key, from));
  return mixed(from, sum | 0);
}

function ofText(text: string, from: number): number {
  let all = from;
  for (let at = 0; at < text.length; at += 1) all = Math.imul(all ^ text.charCodeAt(at), prime);
  return mixed(all, text.length);
}

function mixed(one: number, other: number): number {
  const all = Math.imul(one ^ other, scramble);
  return all ^ (all >>> 15);
}
