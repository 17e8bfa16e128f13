/** What differs between the decisions of two sides on one event. */
import { expect, test } from 'vitest';
import type { AnyDecision } from '../../../src/core/machine/definition.ts';
import { differencesOf, fieldPairs } from '../../../src/logs/replay/differences.ts';

const abort = (requestId: string, held = 2): AnyDecision =>
  ({ type: 'request.abort', at: 1, requestId, promptId: 'p', reason: { code: 'prompt_collected', held } }) as never;
const launch = (requestId: string, engineId: string): AnyDecision =>
  ({ type: 'request.launch', at: 1, requestId, engineId, reason: { code: 'planned', inFlight: 1 } }) as never;

const briefly = (one: readonly AnyDecision[], other: readonly AnyDecision[]) =>
  differencesOf(one, other).map(({ kind, one: a, other: b, fields }) => {
    const id = (decision: AnyDecision | undefined) => (decision as { requestId?: string } | undefined)?.requestId;
    return [kind, id(a), id(b), fields.join(' ')];
  });

test.each<[string, AnyDecision[], AnyDecision[], unknown[]]>([
  ['nothing', [abort('a'), abort('b')], [abort('a'), abort('b')], []],
  ['a number of a reason', [abort('a', 2)], [abort('a', 3)], [['explained', 'a', 'a', 'reason.held']]],
  ['where it runs', [launch('a', 'e0')], [launch('a', 'e1')], [['changed', 'a', 'a', 'engineId']]],
  ['only the first side', [abort('a'), abort('b')], [abort('b')], [['missing', 'a', undefined, '']]],
  ['only the second side', [abort('b')], [abort('a'), abort('b')], [['added', undefined, 'a', '']]],
  ['the order', [abort('a'), abort('b')], [abort('b'), abort('a')], [['reordered', 'a', 'b', '']]],
  // The same subject is found before another one of the same type.
  [
    'one of several',
    [launch('a', 'e0'), launch('b', 'e0')],
    [launch('b', 'e1'), launch('c', 'e0')],
    [
      ['changed', 'a', 'c', 'requestId'],
      ['changed', 'b', 'b', 'engineId'],
    ],
  ],
])('%s', (_, one, other, expected) => {
  expect(briefly(one, other)).toEqual(expected);
});

test('fields in another order are a difference, as a log is compared to the byte', () => {
  const turned = Object.fromEntries(Object.entries(abort('a')).reverse()) as unknown as AnyDecision;
  expect(briefly([abort('a')], [turned])).toEqual([['reordered', 'a', 'a', '']]);
});

test('inner fields have paths; a list is one field', () => {
  const pairs = fieldPairs({ a: { b: 1 }, c: [1, 2] }, { a: { b: 2, d: 0 }, c: [1, 3], e: {} });
  expect(pairs.map(({ path, isSame }) => [path, isSame])).toEqual([
    ['a.b', false],
    ['a.d', false],
    ['c', false],
    ['e', false],
  ]);
});
