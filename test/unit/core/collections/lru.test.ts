import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LruMap } from '../../../../src/core/collections/lru.ts';
import { runs } from '../../../support/basics/runs.ts';

const keysOf = (map: LruMap<string, number>): string[] => [...map].map(([key]) => key);

describe('LruMap', () => {
  test('the least recently used leaves; looking with peek or has is no use', () => {
    const map = new LruMap<string, number>(2);
    expect(map.set('a', 1)).toBeUndefined();
    map.set('b', 2);
    expect([map.peek('a'), map.has('a')]).toEqual([1, true]);
    expect(map.set('c', 3)).toBe('a');
    expect(map.get('b')).toBe(2);
    expect(map.set('d', 4)).toBe('c');
    expect([...map]).toEqual([
      ['b', 2],
      ['d', 4],
    ]);
    expect([map.get('a'), map.peek('a'), map.size]).toEqual([undefined, undefined, 2]);
  });

  test('setting again changes the value and counts as use', () => {
    const map = new LruMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    expect(map.set('a', 3)).toBeUndefined();
    expect(map.set('c', 4)).toBe('b');
    expect(map.peek('a')).toBe(3);
  });

  test('deleting from both ends and the middle', () => {
    const map = new LruMap<string, number>(4);
    for (const [index, key] of ['a', 'b', 'c', 'd'].entries()) map.set(key, index);
    expect([map.delete('b'), map.delete('b'), map.delete('a'), map.delete('d')]).toEqual([true, false, true, true]);
    expect(keysOf(map)).toEqual(['c']);
    map.delete('c');
    map.set('e', 5);
    expect(keysOf(map)).toEqual(['e']);
  });

  test('does what a list of keys in the order of use does', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
    const step = fc.tuple(fc.constantFrom('get', 'set', 'delete', 'peek'), key, fc.nat(9));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60 }), (capacity, steps) => {
        const map = new LruMap<string, number>(capacity);
        let model: [string, number][] = [];
        for (const [what, one, value] of steps) {
          const known = model.find(([name]) => name === one);
          const others = model.filter(([name]) => name !== one);
          if (what === 'get') {
            expect(map.get(one)).toBe(known?.[1]);
            if (known !== undefined) model = [...others, known];
          } else if (what === 'peek') expect(map.peek(one)).toBe(known?.[1]);
          else if (what === 'delete') {
            expect(map.delete(one)).toBe(known !== undefined);
            model = others;
          } else {
            model = [...others, [one, value]];
            expect(map.set(one, value)).toBe(model.length > capacity ? model.shift()![0] : undefined);
          }
          expect([...map]).toEqual(model);
          expect(map.size).toBe(model.length);
        }
      }),
      runs(200),
    );
  });
});
