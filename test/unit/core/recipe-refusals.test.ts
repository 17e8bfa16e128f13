/** What happens where a part refuses an event inside a recipe, or is off. */

import { describe, expect, test } from 'vitest';
import { refuse } from '../../../src/errors.ts';
import { create, defineDecision, defineEvent, definePolicy, defineRecipe, handlersOf, z } from '../../../src/index.ts';
import { type Arbitrary, checkLaws } from '../../../src/testing/index.ts';

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
        if (event.text === 'unknown') refuse('invalid_event', 'text', 'a known text', event.text);
      },
    ),
  ],
  decisions: [answered],
  ledgers: [],
});

const generalist = definePolicy({
  ...part,
  id: 'acme/generalist',
  summary: 'It answers everything.',
  handlers: [
    handlersOf<object, z.output<typeof answered.schema>>()(passed, (_state, event, { at, emit }) =>
      emit({ type: 'acme/answered', at, text: event.text, reason: { code: 'first' } }),
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
    configure: () => ({ clerk: {}, expert: {}, generalist: {} }),
    events: [asked],
    decisions: [answered],
    routes: {},
    ledgers: [],
    ...change,
  });

const ask = { type: 'acme/asked', at: 0, text: 'why' } as const;
const unknown = { ...ask, text: 'unknown' } as const;
type To = (event: { readonly at: number }) => readonly object[];
const passedTo = (to: To) => ({ routes: { clerk: { 'acme/passed': { to } } } });
const toExpert =
  (rest: object): To =>
  (event) => [{ part: 'expert', event, ...rest }];

test('a part that takes the event answers', () => {
  expect(create(office({}), {}).send(ask)).toMatchObject([{ type: 'acme/answered', text: 'why' }]);
});

test('an event from inside that a part refuses is a defect of the recipe, and names both', () => {
  const policy = create(office({}), {});
  expect(() => policy.send(unknown)).toThrow(
    expect.objectContaining({
      code: 'internal',
      got: expect.stringMatching(/expert to take acme\/passed inside acme\/office .*text: expected a known text/),
    }),
  );
});

test('the laws find it', () => {
  const draw: Arbitrary = (_, choices) => ({ ...ask, text: ['why', 'unknown'][choices.below(2)]! });
  const tested = { definition: office({}), arbitrary: draw };
  expect(() => checkLaws(tested, { config: {}, runs: 20, events: 5, only: [3] })).toThrow(
    /breaks law 3.*expert to take acme\/passed/s,
  );
});

test('routes know the parts and what they decide', () => {
  const spec = {
    id: 'acme/typed',
    version: 1,
    summary: 'It is typed.',
    source: 'a test',
    config: z.strictObject({}),
  } as const;
  const rest = { parts: { clerk, expert }, configure: () => ({}), events: [asked], decisions: [answered], ledgers: [] };
  defineRecipe({
    ...spec,
    ...rest,
    routes: { clerk: { 'acme/passed': { to: ({ text }) => [text] } } },
  });
  // @ts-expect-error `acme/answered` is a decision of the expert
  defineRecipe({ ...spec, ...rest, routes: { clerk: { 'acme/answered': { out: false } } } });
  const misspelt = { exprt: { 'acme/answered': { out: false } } } as const;
  // @ts-expect-error there is no such part
  expect(() => defineRecipe({ ...spec, ...rest, routes: misspelt })).toThrow('did you mean "expert"');
});

test('`expects` refuses the event from outside before any part has changed', () => {
  const expects = (event: { at: number; text: string }) => [
    { part: 'expert', event: { ...event, type: 'acme/passed', reason: { code: 'first' } } },
  ];
  const policy = create(office({ expects }), {});
  expect(() => policy.send(unknown)).toThrow(expect.objectContaining({ code: 'invalid_event', path: 'text' }));
  expect(policy.send(ask)).toHaveLength(1);
});

test.each([
  ['an empty `otherwise`', { otherwise: [] }],
  ['`ifTaken`', { ifTaken: true }],
])('%s skips what is refused', (_, rest) => {
  const policy = create(office(passedTo(toExpert(rest))), {});
  expect(policy.send(unknown)).toEqual([]);
  expect(policy.send(ask)).toHaveLength(1);
});

test('`otherwise` gives it to another part', () => {
  const to: To = (event) => [{ part: 'expert', event, otherwise: [{ part: 'generalist', event }] }];
  const policy = create(office({ ...passedTo(to), parts: { clerk, expert, generalist } }), {});
  expect(policy.send(unknown)).toMatchObject([{ type: 'acme/answered', text: 'unknown' }]);
});

describe('a part that is off', () => {
  const parts = { clerk, expert, generalist };
  const withoutExpert = (to: To) => create(office({ ...passedTo(to), parts, off: () => ['expert'] }), {});

  test('hears nothing, by whatever name it is addressed', () => {
    const both = { parts, off: () => ['expert'], routes: { clerk: { 'acme/passed': { to: () => ['expert'] } } } };
    expect(create(office(both), {}).send(ask)).toEqual([]);
    expect(withoutExpert(toExpert({})).send(ask)).toEqual([]);
    const outside = { parts: { clerk }, off: () => ['clerk'], deliver: () => ['clerk'] };
    expect(create(office({ ...outside, configure: () => ({ clerk: {} }) }), {}).send(ask)).toEqual([]);
  });

  test('is replaced by its `otherwise`, whose refusal then counts', () => {
    const first: To = (event) => [{ part: 'expert', event, otherwise: [{ part: 'generalist', event }] }];
    expect(withoutExpert(first).send(unknown)).toHaveLength(1);
    const last: To = (event) => [{ part: 'expert', event, otherwise: [{ part: 'clerk', event }] }];
    const strict = { ...passedTo(last), parts: { clerk, expert }, off: () => ['clerk'] };
    const outside = {
      ...strict,
      events: [passed],
      deliver: (event: object) => [{ part: 'expert', event, otherwise: [{ part: 'clerk', event }] }],
    };
    const policy = create(office(outside), {});
    const said = { type: 'acme/passed', at: 0, text: 'unknown', reason: { code: 'first' } } as const;
    expect(() => policy.send(said as never)).toThrow(expect.objectContaining({ code: 'invalid_event' }));
  });
});
