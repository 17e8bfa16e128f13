/** Messages made wrong: malformed, truncated, oversized, deep, of wrong types, with `__proto__`, not UTF-8. Seeded. */
import { seeded } from '../basics/numbers.ts';

/** Draws, one after the other. */
export class Draw {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = seeded(seed);
  }

  /** A whole number from 0 to n − 1. */
  below(n: number): number {
    return Math.floor(this.#next() * n);
  }

  of<T>(all: readonly T[]): T {
    return all[this.below(all.length)]!;
  }
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'utf8');
const nasty: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  -0,
  2 ** 53,
  -(2 ** 53),
  1e308,
  5e-324,
  '',
  'x',
  's1',
  '0',
  ' ',
  '\u0000',
  '\ud800',
  '😀',
  '__proto__',
  'constructor',
  'x'.repeat(300),
  [],
  [[]],
  [null],
  ['x'],
  {},
  { x: 1 },
  [{}],
  { type: 'x' },
]; // prettier-ignore

/** A place in a value: an object or list, and a key of it. */
interface Place {
  readonly of: Record<string, unknown> | unknown[];
  readonly key: string;
}

function placesOf(value: unknown, found: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return found;
  for (const key of Object.keys(value)) {
    found.push({ of: value as Place['of'], key });
    placesOf((value as Record<string, unknown>)[key], found);
  }
  return found;
}

/** Changes one place of a message; what cannot be changed is taken for another mutation. */
function inside(change: (place: Place, draw: Draw, pool: readonly string[]) => void) {
  return (line: string, draw: Draw, pool: readonly string[]): Buffer => {
    const value = JSON.parse(line);
    const places = placesOf(value);
    if (places.length > 0) change(draw.of(places), draw, pool);
    return bytesOf(JSON.stringify(value));
  };
}

const set = ({ of, key }: Place, value: unknown): void =>
  void Object.defineProperty(of, key, { value, enumerable: true });
const valueAt = ({ of, key }: Place): unknown => (of as Record<string, unknown>)[key];
const cut = (line: Buffer, draw: Draw): Buffer => line.subarray(0, draw.below(line.length));
const insert = (line: Buffer, what: Buffer, draw: Draw): Buffer => {
  const at = draw.below(line.length + 1);
  return Buffer.concat([line.subarray(0, at), what, line.subarray(at)]);
};

/** How a line may be made wrong; `most` is the limit of its bytes. */
export type Mutation = (line: string, draw: Draw, pool: readonly string[], most: number) => Buffer;

const notUtf8 = ['ff', 'fe', 'c0af', 'c3', 'e282', 'f0908d', 'eda080', 'f4908080', '80', 'fffe0000'];

export const mutations: Readonly<Record<string, Mutation>> = {
  'as it is': (line) => bytesOf(line),
  malformed: (line, draw) => {
    const bytes = bytesOf(line);
    for (let n = draw.below(4); n >= 0; n -= 1) bytes[draw.below(bytes.length)] = draw.below(256);
    return bytes;
  },
  'with bytes inside': (line, draw) =>
    insert(bytesOf(line), Buffer.from(Array.from({ length: 1 + draw.below(6) }, () => draw.below(256))), draw),
  truncated: (line, draw) => cut(bytesOf(line), draw),
  'without its beginning': (line, draw) => bytesOf(line).subarray(1 + draw.below(line.length)),
  spliced: (line, draw, pool) =>
    Buffer.concat([cut(bytesOf(line), draw), bytesOf(draw.of(pool)).subarray(draw.below(40))]),
  oversized: (line, draw, _, most) =>
    insert(bytesOf(line), Buffer.alloc(most + draw.below(3 * most), draw.of([...'x [{"\\'])), draw),
  deep: (line, draw) => {
    const [open, close] = draw.of([
      ['[', ']'],
      ['{"a":', '}'],
      ['[{"a":[', ']}]'],
      ['[', ''],
      ['{"":', ''],
      ['', ']'],
    ]);
    const times = draw.of([5, 20, 60, 70, 500]);
    const whole = `${open!.repeat(times)}1${close!.repeat(times)}`;
    const parts = line.split(/(?<=:)/);
    const at = draw.below(parts.length);
    return bytesOf([...parts.slice(0, at), whole, ...parts.slice(draw.below(2) + at)].join(''));
  },
  'of a wrong type': inside((place, draw) => set(place, draw.of(nasty))),
  'without a key': inside(({ of, key }) => void (Array.isArray(of) ? of.splice(Number(key), 1) : delete of[key])),
  'with a value of another': inside((place, draw, pool) => {
    const others = placesOf(JSON.parse(draw.of(pool)));
    if (others.length > 0) set(place, valueAt(draw.of(others)));
  }),
  'with a key too many': inside((place, draw) => {
    const into = valueAt(place);
    const name = draw.of([
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'x',
      '',
      'at',
      'id',
      'params',
      'events',
    ]);
    const target = typeof into === 'object' && into !== null && !Array.isArray(into) ? into : place.of;
    Object.defineProperty(target, name, { value: draw.of([{ polluted: 1 }, ...nasty]), enumerable: true });
  }),
  'with __proto__ for a key': (line, draw) => {
    const keys = [...line.matchAll(/"([a-zA-Z]+)":/g)];
    if (keys.length === 0) return bytesOf(line);
    const { index, 0: key } = draw.of(keys);
    return bytesOf(`${line.slice(0, index)}"__proto__":${line.slice(index + key.length)}`);
  },
  'with a key twice': (line, draw) => {
    const objects = [...line.matchAll(/\{(?="([a-zA-Z]+)":)/g)];
    if (objects.length === 0) return bytesOf(line);
    const { index, 1: key } = draw.of(objects);
    return bytesOf(`${line.slice(0, index + 1)}"${key}":${JSON.stringify(draw.of(nasty))},${line.slice(index + 1)}`);
  },
  'not UTF-8': (line, draw) => insert(bytesOf(line), Buffer.from(draw.of(notUtf8), 'hex'), draw),
  'a batch': (line, draw, pool) => {
    const calls = Array.from({ length: draw.below(5) }, () => draw.of([line, draw.of(pool), '1', 'null', '[]', '{}']));
    return bytesOf(`[${calls.join(',')}]`);
  },
  'a notification': (line) => bytesOf(line.replace(/"id":[^,}]*,?/, '')),
  noise: (_, draw) => Buffer.from(Array.from({ length: draw.below(200) }, () => draw.below(256))),
};
