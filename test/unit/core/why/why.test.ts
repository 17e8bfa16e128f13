import { describe, expect, test } from 'vitest';
import { type AnyPolicyDefinition, sealDefinition } from '../../../../src/core/machine/definition.ts';
import { joinedWaits } from '../../../../src/core/recipe/recipe-waits.ts';
import type { AwaitedEvent, HeldThing, Standing, Waits } from '../../../../src/core/why/waits.ts';
import { allOwed, type Holdings, inOneGo, whyOf } from '../../../../src/core/why/why.ts';
import { create } from '../../../../src/index.ts';
import { owedBy, told } from '../../../support/sessions/why.ts';
import { rightPolicy } from '../../../support/wrong/policies.ts';

type For = readonly (HeldThing | AwaitedEvent)[];

/** Holdings of one kind: what each thing waits for. */
function holdings(things: Readonly<Record<string, For>>): Holdings {
  const of = ({ id }: HeldThing): Standing | undefined => {
    const found = things[id];
    return found && { stands: 'waits', for: found };
  };
  return { at: 0, kinds: ['things'], ids: () => Object.keys(things), of };
}
const thing = (id: string): HeldThing => ({ what: 'things', id });
const reward = (requestId: string, since?: number): AwaitedEvent => ({
  event: { type: 'reward.finished', dispatchId: requestId },
  since,
});
const timer = (dueAt: number): AwaitedEvent => ({ event: { type: 'timer.fired', timerId: 't' }, dueAt });

describe('why', () => {
  test('follows all that is waited for to its events, the oldest first, timers last', () => {
    const held = holdings({
      a: [thing('b'), thing('c'), timer(9)],
      b: [reward('late', 5), thing('a'), timer(7)],
      c: [thing('d'), reward('unknown')],
      d: [reward('early', 3), thing('gone')],
    });
    const why = inOneGo(whyOf(held, 'a'));
    expect(told(why)).toEqual([
      'a waits',
      'c waits',
      'd waits',
      'reward worker: reward.finished early',
      'reward worker: reward.finished late',
      'reward worker: reward.finished unknown',
      'timer: timer.fired t',
    ]);
    expect(why.owed.at(-1)?.dueAt).toBe(7);
    expect(owedBy(inOneGo(allOwed(held)))).toEqual(owedBy(why));
  });

  test('lists at most 32 events, each once, and counts the others', () => {
    const many = Array.from({ length: 40 }, (_, index) => reward(`d${index}`, index));
    const why = inOneGo(whyOf(holdings({ a: [...many, ...many] }), 'a'));
    expect([why.owed.length, why.more, why.owed[31]?.since]).toEqual([32, 8, 31]);
  });

  test('a policy that does not say what blocks what answers from its ledgers', () => {
    const { waits: _, ...definition } = rightPolicy.definition;
    const policy = create(sealDefinition<AnyPolicyDefinition>(definition), { limit: 3 });
    policy.send({ type: 'acme/item.added', at: 0, id: 'apple' } as never);
    expect(policy.why('apple')).toEqual({
      what: 'items',
      id: 'apple',
      stands: 'is held',
      through: [],
      owed: [],
      more: 0,
    });
    expect(() => policy.why('aple')).toThrow('apple');
    expect(() => policy.why('apple', 'pears')).toThrow('one of items');
    expect(policy.why()).toEqual({ rounds: [], owed: [], more: 0 });
  });
});

describe('the waits of a recipe', () => {
  const part = (waits: Waits<never>, decisions: string[] = [], gates = {}): AnyPolicyDefinition =>
    ({ waits, gates, decisions: decisions.map((type) => ({ type })) }) as never;
  /** A part that holds some ids, which wait for one event with their id. */
  const holder = (what: string, ids: readonly string[], type: string, decisions: string[] = [], gates = {}) =>
    part(
      {
        [what]: {
          ids: () => ids,
          of: (_: never, id: string) =>
            ids.includes(id) ? { stands: `waits for ${type}`, for: [{ event: { type, id } }] } : undefined,
        },
      },
      decisions,
      gates,
    );
  const parts = {
    first: holder('prompts', ['p', 'q'], 'inner.made'),
    maker: holder('works', ['p'], 'made', ['inner.made']),
    other: holder('prompts', ['p', 'r'], 'given'),
  };
  const standsFor = (
    origins: Parameters<typeof joinedWaits>[0]['origins'],
    { off = [], id = 'p', from = parts }: { off?: string[]; id?: string; from?: typeof parts } = {},
  ): unknown[] => {
    const waits = joinedWaits({ parts: from, outside: new Set(['made', 'given', 'asked']), origins });
    const states = { parts: {}, wiring: { off } };
    return [...(waits.prompts?.of(states, id)?.for ?? [])];
  };
  const made = { what: 'works', id: 'p', part: 'maker' };
  const given = { event: { type: 'given', id: 'p' } };

  test('an event that a part decides leads on to what this part holds under an id of the event', () => {
    expect(standsFor({})).toEqual([made, given]);
    expect(standsFor({}, { id: 'q' })).toEqual([]);
    expect(standsFor({}, { off: ['maker', 'other'] })).toEqual([]);
  });

  test('an origin is the first part that holds something, for one part or for all', () => {
    const inOther = { what: 'prompts', id: 'p', part: 'other' };
    expect(standsFor({ 'inner.made': { parts: ['first', 'other', 'maker'] } })).toEqual([inOther, given]);
    expect(standsFor({ 'first/inner.made': { parts: ['maker'] }, 'inner.made': { parts: ['other'] } })).toEqual([
      made,
      given,
    ]);
  });

  test('an origin is an event from outside, unless a part has to end something first', () => {
    const origins = { 'inner.made': { event: 'asked' } };
    expect(standsFor(origins)).toEqual([{ event: { type: 'asked', id: 'p' } }, given]);
    const gated = {
      ...parts,
      maker: holder('works', ['p'], 'made', [], { 'inner.made': () => [{ what: 'works', id: 'p' }] }),
    };
    expect(standsFor(origins, { from: gated })).toEqual([made, given]);
    expect(standsFor(origins, { from: gated, off: ['maker'] })).toEqual([{ event: { type: 'asked', id: 'p' } }, given]);
  });
});
