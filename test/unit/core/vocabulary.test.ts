/** The vocabulary has every message of every file of a family. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { decisions, events } from '../../../src/schemas/index.ts';
import { defineDecision, defineEvent } from '../../../src/schemas/vocabulary.ts';

const folders = { events, decisions } as const;

test.each(['events', 'decisions'] as const)('every file of %s is imported and listed in index.ts', async (kind) => {
  const folder = new URL(`../../../src/schemas/${kind}/`, import.meta.url);
  const files = readdirSync(folder).filter((name) => name !== 'index.ts');
  const messages = await Promise.all(
    files.map(async (file) => Object.values(await import(new URL(file, folder).href))),
  );
  const types = messages.flat().map((message) => (message as { type: string }).type);
  expect(files.length).toBeGreaterThan(10);
  expect(folders[kind].map((message) => message.type)).toEqual(types.sort());
});

test('the schema of a message is made when it is first read, and once', () => {
  let made = 0;
  const fields = {
    get tokens() {
      made += 1;
      return z.int();
    },
  };
  const messages = [
    defineEvent('acme/a', 'A.', fields),
    defineDecision('acme/b', 'notice', 'B.', fields, { done: {} }),
  ];
  const before = made;
  for (const message of messages) {
    expect(Object.isFrozen(message)).toBe(true);
    expect(message.schema).toBe(message.schema);
    expect(message.schema.meta()).toMatchObject({ description: message.description });
  }
  expect(made).toBe(before + messages.length);
});

test('fields that the build writes as functions are not made before they are read', () => {
  const never = (() => {
    throw new Error('made');
  }) as never;
  const message = defineDecision('acme/c', 'notice', 'C.', never, (() => ({ done: {}, failed: {} })) as never);
  expect(message.reasons).toEqual(['done', 'failed']);
  expect(() => message.schema).toThrow('made');
});
