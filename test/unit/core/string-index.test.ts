import { expect, test } from 'vitest';
import { StringIndex } from '../../../src/core/string-index.ts';

test('finds every string by its row, and no other', () => {
  for (const count of [0, 1, 2, 3, 1000, 1024]) {
    const texts = Array.from({ length: count }, (_, row) => `prompt-${row >> 3}/${row & 7}#0`);
    const index = new StringIndex(texts);
    expect(index.size).toBe(count);
    expect(texts.map((text) => index.row(text))).toEqual(texts.map((_, row) => row));
    for (const text of ['', 'prompt-0/0#1', 'prompt-0/0#00', 'é']) expect(index.row(text)).toBe(-1);
  }
});

test('a string that is given again keeps its first row', () => {
  const index = new StringIndex(['a', '', 'b', 'a', '', 'c']);
  expect(index.size).toBe(4);
  expect(['a', '', 'b', 'c', 'd'].map((text) => index.row(text))).toEqual([0, 1, 2, 5, -1]);
});
