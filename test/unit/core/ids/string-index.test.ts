import { expect, test } from 'vitest';
import { StringIndex } from '../../../../src/core/ids/string-index.ts';

const ids: Readonly<Record<string, (row: number) => string>> = {
  'ids of requests': (row) => `prompt-${row >> 3}/${row & 7}#0`,
  'ids that differ at the front': (row) => `${row}-of-the-run-that-began-yesterday`,
  'ids of which a few are short': (row) => (row % 10 === 0 ? String(row) : `request-${row * 7919}`),
  // Sixty-four of them tell nothing of where the others differ.
  'ids that differ in many places, each seldom': (row) => {
    const text = 'a'.repeat(2000);
    return `${text.slice(0, row)}b${text.slice(row + 1)}`;
  },
  'no ASCII': (row) => `é${String.fromCharCode(0x4e00 + row)}`,
};

test.each(Object.entries(ids))('finds every string by its row, and no other: %s', (_, id) => {
  for (const count of [0, 1, 2, 3, 64, 65, 1000, 1024]) {
    const texts = Array.from({ length: count }, (_, row) => id(row));
    const index = StringIndex.of(texts);
    expect(texts.map((text) => index.row(text))).toEqual(texts.map((_, row) => row));
    for (const text of ['', 'prompt-0/0#1', 'prompt-0/0#00', 'é']) expect(index.row(text)).toBe(-1);
  }
});

test('a string that is given again keeps its first row', () => {
  const index = StringIndex.of(['a', '', 'b', 'a', '', 'c']);
  expect(['a', '', 'b', 'c', 'd'].map((text) => index.row(text))).toEqual([0, 1, 2, 5, -1]);
  const same = StringIndex.of(Array.from({ length: 500 }, () => 'same'));
  expect([same.row('same'), same.row('other')]).toEqual([0, -1]);
});
