/**
 * A digest of decisions: it shows whether replayed steps decide as they did before. The digest is made for every step before its
 * answer, so it must cost less than the text of the decisions.
 */
import type { AnyDecision } from '../../core/machine/definition.ts';

const prime = 0x01000193;
const seed = 0x811c9dc5;
const float = new Float64Array(1);
const halves = new Uint32Array(float.buffer);

/** Computes the digest of one step's decisions: all values in order, and the lengths of field names. */
export function digestOf(decisions: readonly AnyDecision[]): string {
  return (withValue(seed, decisions) >>> 0).toString(36);
}

function withValue(hash: number, value: unknown): number {
  if (typeof value === 'string') return withText(hash, value);
  if (typeof value === 'number') return withNumber(hash, value);
  if (typeof value !== 'object' || value === null) return withText(hash, String(value));
  let next = hash;
  if (Array.isArray(value)) {
    next = Math.imul(hash ^ value.length, prime);
    for (const one of value) next = withValue(next, one);
    return next;
  }
  for (const name in value) {
    const field = (value as Record<string, unknown>)[name];
    // As in JSON, a field with the value undefined counts as absent.
    if (field !== undefined) next = withValue(Math.imul(next ^ name.length, prime), field);
  }
  return next;
}

function withText(hash: number, text: string): number {
  let next = hash ^ text.length;
  for (let at = 0; at < text.length; at += 1) next = Math.imul(next ^ text.charCodeAt(at), prime);
  return next;
}

function withNumber(hash: number, value: number): number {
  if ((value | 0) === value) return Math.imul(Math.imul(hash ^ (value & 0xffff), prime) ^ (value >>> 16), prime);
  float[0] = value;
  return Math.imul(Math.imul(hash ^ halves[0]!, prime) ^ halves[1]!, prime);
}
