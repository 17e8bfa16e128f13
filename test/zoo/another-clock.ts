/** A log by another clock, and with other names; and its answers by the first clock. */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'vitest';
import { registry } from '../../src/registry.ts';

/** Plain data. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type Fields = Readonly<Record<string, Json>>;

/** Returns a value with each number and text in it replaced; `key` is the name of the field that it is in. */
function replaced(value: Json, by: (one: number | string, key: string) => Json, key = ''): Json {
  if (typeof value === 'number' || typeof value === 'string') return by(value, key);
  if (value === null || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((one: Json) => replaced(one, by, key));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, by, name)]));
}

/** Calls `each` with every two texts that stand at the same place. */
function paired(one: Json, other: Json, each: (one: string, other: string) => void): void {
  if (typeof one === 'string' && typeof other === 'string') return each(one, other);
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return;
  for (const [name, value] of Object.entries(one)) paired(value, (other as Fields)[name] ?? null, each);
}

/** Unix time, in seconds, at which the other clock stands where the first one stands at 0. */
export const begin = 1.8e9;
/** No log goes on for longer. */
const longest = 1e6;
/** Doubles have these times after 1.8e9 s, too. */
const dyadic = (seconds: number): number => Math.round(seconds * 2 ** 20) / 2 ** 20;

/** A log, and the names that its ids have in it. */
export interface Clocked {
  readonly path: string;
  /** Its lines: the opening one, and one for each event. */
  readonly lines: readonly string[];
  readonly named: ReadonlyMap<string, string>;
}

/**
 * Writes a log again, into a folder, as its host would by another clock, and with `prefix` before the names that the host gives.
 */
export function again(path: string, seconds: number, { prefix, folder }: { prefix: string; folder: string }): Clocked {
  const [first, ...rest] = readFileSync(path, 'utf8').trim().split('\n');
  const { snapshot } = JSON.parse(first!) as { snapshot: { config: Json } };
  const policy: { snapshot(): unknown; send(event: never): unknown } = registry.restore(snapshot);
  const named = new Map<string, string>();
  // The settings name what the host has.
  paired(snapshot.config, snapshot.config, (one) => named.set(one, one));
  const lines = [JSON.stringify({ snapshot: policy.snapshot() })];
  for (const line of rest) {
    const { event, decisions } = JSON.parse(line) as { event: Json; decisions: Json };
    const moved = replaced(event, (one, key) => {
      if (typeof one === 'number') return key === 'at' ? dyadic(one) + seconds : one;
      const known = named.get(one);
      if (known !== undefined || !/Ids?$/.test(key)) return known ?? one;
      named.set(one, `${prefix}${one}`);
      return `${prefix}${one}`;
    });
    const made = policy.send(moved as never) as Json;
    // The policy names requests and timers.
    paired(decisions, made, (one, other) => named.has(one) || named.set(one, other));
    lines.push(JSON.stringify({ event: moved, decisions: made }));
  }
  const copy = join(folder, `${prefix}${basename(path)}`);
  writeFileSync(copy, `${lines.join('\n')}\n`);
  return { path: copy, lines, named };
}

/** Returns an answer with the times and names of the first clock. */
export function back(answer: Json, { named, path }: Clocked, seconds: number): Json {
  const names = [...named].filter(([one, other]) => one !== other).sort(([, a], [, b]) => b.length - a.length);
  const text = (one: string): string => {
    let all = one.replaceAll(path, 'log').replaceAll(basename(path), 'log');
    for (const [name, other] of names) all = all.replaceAll(other, name);
    return all.replace(/\b180\d{7}(\.\d+)?\b/g, (time) => `${Number((Number(time) - seconds).toFixed(6))}`);
  };
  return replaced(answer, (one, key) => {
    if (typeof one === 'string') return text(one);
    // Times of a Chrome trace are microseconds from its beginning.
    return key !== 'ts' && key !== 'dur' && one >= begin && one < begin + longest ? one - seconds : one;
  });
}

/** Expects that two answers are the same: numbers within a millionth of them, and of 1 where they are less. */
export function expectSame(one: Json, other: Json, where = ''): void {
  if (typeof one === 'number' && typeof other === 'number') {
    const off = Math.abs(one - other);
    return expect(off, `${where}: ${one}, ${other}`).toBeLessThanOrEqual(1e-6 * Math.max(1, Math.abs(one)));
  }
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null)
    return expect(other, where).toEqual(one);
  expect(Object.keys(other), where).toEqual(Object.keys(one));
  for (const [name, value] of Object.entries(one)) expectSame(value, (other as Fields)[name]!, `${where}.${name}`);
}
