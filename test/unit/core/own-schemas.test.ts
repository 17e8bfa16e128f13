/** A schema of zod 3, or none at all, is refused where a host hands it over, by its path. */

import { expect, test } from 'vitest';
import * as mini from 'zod/mini';
import { z as z3 } from 'zod/v3';
import { defineDecision, defineEvent, definePlanner, definePolicy, z } from '../../../src/index.ts';

const own = {
  id: 'acme/p',
  version: 1,
  summary: 'Nothing.',
  source: 'acme',
  config: z.strictObject({}),
  state: z.strictObject({}),
  begin: () => ({}),
  handlers: [],
  decisions: [],
  ledgers: [],
};
const zod3 = z3.object({}) as never;
const planner = { id: 'acme/q', version: 1, summary: 'Nothing.', source: 'acme', compute: () => ({}) };

test.each<[string, string, () => unknown]>([
  ['acme/p.config', '"one of zod 3"', () => definePolicy({ ...own, config: zod3 })],
  ['acme/p.state', '"one of zod 3"', () => definePolicy({ ...own, state: zod3 })],
  ['acme/p.config', 'nothing', () => definePolicy({ ...own, config: undefined as never })],
  ['acme/p.config', '{"type":"object"}', () => definePolicy({ ...own, config: { type: 'object' } as never })],
  ['acme/q.input', '"one of zod 3"', () => definePlanner({ ...planner, input: zod3, plan: z.object({}) })],
  ['acme/q.plan', '"one of zod 3"', () => definePlanner({ ...planner, input: z.object({}), plan: zod3 })],
  ['acme/a.tokens', '"one of zod 3"', () => defineEvent('acme/a', 'A thing.', { tokens: zod3 })],
  ['acme/b.tokens', '"one of zod 3"', () => defineDecision('acme/b', 'command', 'Do.', { tokens: zod3 }, { c: {} })],
  ['acme/b.reason.c.n', '3', () => defineDecision('acme/b', 'command', 'Do.', {}, { c: { n: 3 as never } })],
])('%s: got %s', (path, got, make) => {
  expect(make).toThrow(
    `${path}: expected a schema of zod 4, such as one made with the z that rollflex exports, got ${got}`,
  );
  expect(make).toThrow(expect.objectContaining({ code: 'invalid_config', path }));
});

test('schemas of zod 4 are taken, of zod/mini too', () => {
  expect(definePolicy(own).kind).toBe('policy');
  const message = defineEvent('acme/a', 'A thing.', { tokens: mini.int() as never });
  expect(message.schema.safeParse({ type: 'acme/a', at: 0, tokens: 1.5 }).success).toBe(false);
});
