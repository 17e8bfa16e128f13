/** Which words mean the files of one format among those of others. */
import { describe, expect, test } from 'vitest';
import { wordsFor } from '../../../src/cli/files/input/mixed.ts';

describe('the words for some files among others', () => {
  const cases: readonly (readonly [string, readonly string[], readonly string[], string])[] = [
    ['a folder of their own', ['d/a/1.jsonl', 'd/a/2.jsonl'], ['d/b/3.jsonl'], 'd/a'],
    ['no folder that has others below it', ['d/a1.jsonl', 'd/a2.jsonl'], ['d/x/3.jsonl'], 'd/a*.jsonl'],
    ['a pattern', ['d/a_1.jsonl', 'd/a_12.jsonl'], ['d/b_1.jsonl'], 'd/a_*.jsonl'],
    ['names, where a pattern means others too', ['d/1.jsonl', 'd/2.jsonl'], ['d/b.jsonl'], 'd/1.jsonl d/2.jsonl'],
    ['the name of one', ['d/1.jsonl'], ['d/b.jsonl'], 'd/1.jsonl'],
    [
      'some names of many',
      ['a/1.jsonl', 'b/2.jsonl', 'a/3.jsonl', 'b/4.jsonl', 'b/5.jsonl'],
      ['a/x.jsonl'],
      'a/1.jsonl b/2.jsonl a/3.jsonl 2 more',
    ],
  ];
  test.each(cases)('%s', (_, names, others, words) => expect(wordsFor(names, others)).toBe(words));
});
