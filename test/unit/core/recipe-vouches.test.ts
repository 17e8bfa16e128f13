/** What a part may refuse is delivered inside only where the recipe says that it does not, or what happens then. */

import { expect, test } from 'vitest';
import { create, defineDecision, defineEvent, definePolicy, defineRecipe, handlersOf, z } from '../../../src/index.ts';

const text = z.string().min(1);
const asked = defineEvent('acme/asked', 'A question has come.', { text });
const passed = defineDecision('acme/passed', 'notice', 'It goes on.', { text }, { first: {} });
const answered = defineDecision('acme/answered', 'notice', 'It is answered.', { text }, { first: {} });

const part = { version: 1, source: 'a test', config: z.strictObject({}), state: z.strictObject({}), begin: () => ({}) };
const clerk = definePolicy({
  ...part,
  id: 'acme/clerk',
  summary: 'It passes on what it is asked.',
  handlers: [
    handlersOf<object, z.output<typeof passed.schema>>()(asked, (_state, event, { at, emit }) =>
      emit({ type: 'acme/passed', at, text: event.text, reason: { code: 'first' } }),
    ),
  ],
  decisions: [passed],
  ledgers: [],
});
const expert = definePolicy({
  ...part,
  id: 'acme/expert',
  summary: 'It answers, and refuses what it does not know.',
  handlers: [
    handlersOf<object, z.output<typeof answered.schema>>()(
      passed,
      (_state, event, { at, emit }) => emit({ type: 'acme/answered', at, text: event.text, reason: { code: 'first' } }),
      (_state, event) => {
        if (event.text === 'unknown') throw new TypeError('it must not be asked');
      },
    ),
  ],
  decisions: [answered],
  ledgers: [],
});

const office = (change: object) =>
  defineRecipe({
    id: 'acme/office',
    version: 1,
    summary: 'A clerk and an expert.',
    source: 'a test',
    config: z.strictObject({}),
    parts: { clerk, expert },
    configure: () => ({ clerk: {}, expert: {} }),
    events: [asked],
    decisions: [answered],
    routes: {},
    ledgers: [],
    ...change,
  });

test('a recipe that says nothing of it is refused, with what is missing', () => {
  expect(() => office({})).toThrow(
    expect.objectContaining({
      code: 'invalid_config',
      path: 'acme/office.vouches.expert',
      expected: expect.stringContaining('acme/passed'),
    }),
  );
});

test('one that vouches for it routes by the messages alone', () => {
  const policy = create(office({ vouches: { expert: ['acme/passed'] } }), {});
  expect(policy.send({ type: 'acme/asked', at: 0, text: 'why' })).toMatchObject([
    { type: 'acme/answered', text: 'why' },
  ]);
});

test('a route that is a function is held to it when it delivers', () => {
  const routes = { clerk: { 'acme/passed': { to: () => ['expert'] } } };
  const policy = create(office({ routes }), {});
  expect(() => policy.send({ type: 'acme/asked', at: 0, text: 'why' })).toThrow(/vouches/);
});

test('a route that says what happens then needs no message', () => {
  const to = (event: { at: number }) => [{ part: 'expert', event, ifTaken: true }];
  const policy = create(office({ routes: { clerk: { 'acme/passed': { to } } } }), {});
  expect(policy.send({ type: 'acme/asked', at: 0, text: 'why' })).toHaveLength(1);
});
