/** What a definition leaves out: the movements of its ledgers, and the beginning of its state. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  create,
  defineDecision,
  defineEvent,
  definePolicy,
  handlersOf,
  mapBy,
  PolicyError,
} from '../../../src/index.ts';

const things = { left: { things: (one: { readonly id: string }) => [one.id] } };
const came = defineEvent('acme/thing.came', 'It came.', { id: z.string() }, { entered: things.left });
const went = defineDecision('acme/thing.went', 'notice', 'It went.', { id: z.string() }, { done: {} }, things);
const silent = defineEvent('acme/thing.came', 'It came.', { id: z.string() });

const part = z.strictObject({ some: z.int(), many: z.array(z.string()), more: z.record(z.string(), z.int()) });
const held = z.strictObject({ id: z.string() });
const state = z.strictObject({
  things: mapBy('id', held),
  part,
  last: z.string().nullable(),
  isOpen: z.boolean(),
  note: z.string().optional(),
});
const about = { version: 1, summary: 'Holds things.', source: 'a test', config: z.strictObject({}), decisions: [went] };
const on = handlersOf<z.output<typeof state> & { config: object }, never>();
const ledgers = [{ name: 'things', held: (saved: z.input<typeof state>) => saved.things.map(({ id }) => id) }];
const handlers = [on(came, ({ things }, { id }) => void things.set(id, { id }))];

const refusal = (make: () => unknown): PolicyError => {
  try {
    make();
  } catch (error) {
    if (error instanceof PolicyError) return error;
  }
  throw new Error('it was not refused');
};

test('a state begins with nothing, where begin does not say otherwise', () => {
  const empty = { part: { some: 0, many: [], more: {} }, last: null, isOpen: false };
  const policy = create(definePolicy({ id: 'acme/holds', ...about, state, handlers, ledgers }), {});
  expect(policy.snapshot().state).toEqual({ things: [], ...empty });
  const begin = () => ({ isOpen: true, things: [{ id: 'a' }] });
  const begun = create(definePolicy({ id: 'acme/begins', ...about, state, begin, handlers, ledgers }), {});
  expect(begun.snapshot().state).toEqual({ ...empty, things: [{ id: 'a' }], isOpen: true });
});

test('what has no evident beginning must be given', () => {
  const named = z.strictObject({
    name: z.string(),
    size: z.int().min(1),
    kind: z.enum(['a', 'b']),
    limit: z.int().max(-1),
  });
  const define = () => definePolicy({ id: 'acme/named', ...about, state: named, handlers: [], ledgers: [] });
  expect(refusal(define)).toMatchObject({ code: 'invalid_config', path: 'acme/named.begin' });
  expect(refusal(define).message).toContain('name, size, kind, limit');
});

test('what enters and leaves follows from the messages', () => {
  const [ledger] = definePolicy({ id: 'acme/holds', ...about, state, handlers, ledgers }).ledgers;
  expect(ledger!.entered({ type: 'acme/thing.came', at: 0, id: 'a' })).toEqual(['a']);
  expect(ledger!.left({ type: 'acme/thing.went', at: 0, id: 'a', reason: { code: 'done' } })).toEqual(['a']);
});

test('a ledger into which nothing comes, or from which nothing goes, is refused', () => {
  const mute = [on(silent, () => undefined)];
  const noEvent = () => definePolicy({ id: 'acme/mute', ...about, state, handlers: mute, ledgers });
  expect(refusal(noEvent)).toMatchObject({ code: 'invalid_config', path: 'acme/mute.ledgers' });
  const noDecision = () => definePolicy({ id: 'acme/shut', ...about, state, handlers, ledgers, decisions: [] });
  expect(refusal(noDecision).message).toContain('a decision');
});
