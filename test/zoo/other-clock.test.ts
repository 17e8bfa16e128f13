/** Whatever reads a log gives the same answers on the same log by another clock, with other names. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runExplain } from '../../src/cli/explain/command.ts';
import { runReplay } from '../../src/cli/replay/command.ts';
import { answered } from '../../src/cli/what-if/question.ts';
import { isPolicyError } from '../../src/errors.ts';
import { LogView } from '../../src/logs/job/log-view.ts';
import type { JobWindow } from '../../src/logs/job/window.ts';
import { openLog } from '../../src/logs/node.ts';
import { registry } from '../../src/registry.ts';
import { lengthsFromLog } from '../../src/sim/workload/log-lengths.ts';
import { some } from '../support/basics/runs.ts';
import { captured } from '../support/command-line/in-process.ts';
import { pathOf } from './files.ts';
import { incidents } from './incidents.ts';
import { slow } from './slow.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-clock-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
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

const begin = 1.8e9;
/** No log goes on for longer. */
const longest = 1e6;
/** Doubles have these times after 1.8e9 s, too. */
const dyadic = (seconds: number): number => Math.round(seconds * 2 ** 20) / 2 ** 20;

/** A log, and the names that its ids have in it. */
interface Clocked {
  readonly path: string;
  readonly named: ReadonlyMap<string, string>;
}

/** Writes a log again as its host would by another clock, and with `prefix` before the names that the host gives. */
function again(path: string, seconds: number, prefix: string): Clocked {
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
  return { path: copy, named };
}

/** Returns an answer with the times and names of the first clock. */
function back(answer: Json, { named, path }: Clocked, seconds: number): Json {
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

/** Expects that two answers are the same, numbers within a millionth. */
function expectSame(one: Json, other: Json, where = ''): void {
  if (typeof one === 'number' && typeof other === 'number') {
    const off = Math.abs(one - other);
    return expect(off, `${where}: ${one}, ${other}`).toBeLessThanOrEqual(1e-6 * Math.max(1, Math.abs(one)));
  }
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null)
    return expect(other, where).toEqual(one);
  expect(Object.keys(other), where).toEqual(Object.keys(one));
  for (const [name, value] of Object.entries(one)) expectSame(value, (other as Fields)[name]!, `${where}.${name}`);
}

const json = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json;
const printed = async (run: () => unknown): Promise<Json> => {
  const { code, out, err } = await captured(run);
  return { code, out: out.startsWith('{') ? (JSON.parse(out) as Json) : out, err };
};
const found = <T>(steps: Generator<undefined, T>): T => {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
};

/** The columns of a chart are counted from the beginning of the clock: here they are times. */
function inSeconds(job: JobWindow | null): unknown {
  const timeline = job?.timeline ?? null;
  return timeline === null
    ? job
    : { ...job, timeline: { ...timeline, from: timeline.from * timeline.width, to: timeline.to * timeline.width } };
}

const orRefusal = async (read: () => unknown): Promise<Json> => {
  try {
    return json(await read());
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    return error.message;
  }
};

/** Everything that reads a log. */
const readers: Readonly<Record<string, (path: string) => Promise<Json> | Json>> = {
  replay: (path) => printed(() => runReplay([path], { json: true })),
  explain: (path) => printed(() => runExplain([path], { index: join(folder, 'index'), json: true })),
  'explain, in words': (path) => printed(() => runExplain([path], { index: join(folder, 'index') })),
  'the pages of debug': (path) => {
    const view = new LogView(openLog([path]), { registry });
    try {
      const [{ session, first, seq }] = view.sessions as [(typeof view.sessions)[number]];
      const moments = [0.25, 0.5, 1].map((share) => Math.round(first + share * (seq - first)));
      return json({
        sessions: view.sessions,
        moments: moments.map((one) => [view.moment(session, one), view.why(session, one)]),
        job: inSeconds(found(view.job(session, seq))),
        trace: JSON.parse([...view.trace()].join('')),
      });
    } finally {
      view.close();
    }
  },
  'simulate --from-log': (path) => orRefusal(() => lengthsFromLog(readFileSync(path, 'utf8').split('\n'))),
  'what-if': (path) => orRefusal(() => answered([path], { set: [['maxInFlight', 64]], seeds: 1, seed: 1 })),
};

const names = [...new Set([...incidents.map(({ log }) => log), ...Object.keys(slow)])];
const files = some(names.filter((name) => pathOf(name).endsWith('.jsonl')).map((name) => pathOf(name)));

describe.each(files.map((path) => [basename(path), path] as const))('%s, 1.8e9 s later', (_, path) => {
  const [first, moved] = [again(path, 0, 'a-'), again(path, begin, 'b-')];
  test.each(Object.entries(readers))('%s', async (_name, read) => {
    const [one, other] = [await read(first.path), await read(moved.path)];
    expectSame(back(one, first, 0), back(other, moved, begin));
  });
});
