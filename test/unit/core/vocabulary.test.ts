/** The vocabulary has every word of every file of a family. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { decisions, events } from '../../../src/schemas/index.ts';
import { defineDecision, defineEvent } from '../../../src/schemas/vocabulary.ts';

const folders = { events, decisions } as const;

test.each(['events', 'decisions'] as const)('every file of %s is imported and listed in index.ts', async (kind) => {
  const folder = new URL(`../../../src/schemas/${kind}/`, import.meta.url);
  const files = readdirSync(folder).filter((name) => name !== 'index.ts');
  const words = await Promise.all(files.map(async (file) => Object.values(await import(new URL(file, folder).href))));
  const types = words.flat().map((word) => (word as { type: string }).type);
  expect(files.length).toBeGreaterThan(10);
  expect(folders[kind].map((word) => word.type)).toEqual(types.sort());
});

test('the schema of a word is made when it is first read, and once', () => {
  let made = 0;
  const fields = {
    get tokens() {
      made += 1;
      return z.int();
    },
  };
  const words = [defineEvent('acme/a', 'A.', fields), defineDecision('acme/b', 'notice', 'B.', fields, { done: {} })];
  const before = made;
  for (const word of words) {
    expect(Object.isFrozen(word)).toBe(true);
    expect(word.schema).toBe(word.schema);
    expect(word.schema.meta()).toMatchObject({ description: word.description });
  }
  expect(made).toBe(before + words.length);
});

test('fields that the build writes as functions are not made before they are read', () => {
  const never = (() => {
    throw new Error('made');
  }) as never;
  const word = defineDecision('acme/c', 'notice', 'C.', never, (() => ({ done: {}, failed: {} })) as never);
  expect(word.reasons).toEqual(['done', 'failed']);
  expect(() => word.schema).toThrow('made');
});
