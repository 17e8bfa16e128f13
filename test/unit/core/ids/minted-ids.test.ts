/** Ids that policies mint, over many restarts of a host: the last prefixes are remembered, and nothing grows. */
import { expect, test } from 'vitest';
import { checkNewPrefix, mintedId, replacePrefix, wasMinted } from '../../../../src/core/ids/minted-ids.ts';
import { create, registry } from '../../../../src/index.ts';
import { exampleConfigs } from '../../../support/examples/configs.ts';

test('the last 64 before the one in use are refused; those before are forgotten, oldest first', () => {
  const state = { prefix: 'p0', oldPrefixes: [] as string[] };
  const forgotten = Array.from({ length: 66 }, (_, index) => replacePrefix(state, `p${index + 1}`));
  expect(forgotten.indexOf(true)).toBe(64);
  expect(state).toMatchObject({ prefix: 'p66', oldPrefixes: { length: 64, 0: 'p2', 63: 'p65' } });
  for (const known of ['p2', 'p65', 'p66']) {
    expect(() => checkNewPrefix(state, { idPrefix: known })).toThrow(expect.objectContaining({ code: 'duplicate_id' }));
  }
  expect(() => checkNewPrefix(state, { idPrefix: 'p1' })).not.toThrow();
});

test('more of them, as an earlier version saved them, are cut down at the next restart', () => {
  const state = { prefix: 'now', oldPrefixes: Array.from({ length: 500 }, (_, index) => `p${index}`) };
  expect(replacePrefix(state, 'next')).toBe(true);
  expect(state.oldPrefixes).toMatchObject({ length: 64, 63: 'now' });
});

test('an id was minted if prefix, kind and number were: of a prefix that is remembered, below the next number', () => {
  const state = { prefix: 'b-', oldPrefixes: ['', 'a-'] };
  const isMinted = (id: string): boolean => wasMinted(state, id, 12, 'update#');
  for (const prefix of ['b-', '', 'a-']) expect(isMinted(mintedId(prefix, 'update#', 11))).toBe(true);
  const never = ['b-update#12', 'c-update#1', 'b-update1', 'b-update#', 'b-update#1.0', 'b-update#-1', '11', ''];
  // A number is written one way: with leading zeros it is none of ours.
  for (const id of [...never, 'b-update#01', 'b-update#00', 'b-update#1\n', 'b-\nupdate#1'])
    expect(isMinted(id)).toBe(false);
});

test('kinds may be many, and digits may stand before the number', () => {
  const isMinted = (id: string): boolean =>
    wasMinted({ prefix: 'r1', oldPrefixes: [] }, id, 5, (kind) => ['#', '7#', 'r#1#'].includes(kind));
  for (const id of ['r1#4', 'r17#0', 'r1r#1#3']) expect(isMinted(id)).toBe(true);
  for (const id of ['r17#5', 'r18#0', 'r#1#3', 'r1r#1']) expect(isMinted(id)).toBe(false);
});

const restarting = registry.policies.filter((one) =>
  (one.events as readonly { type: string }[]).some(({ type }) => type === 'host.restarted'),
);

test.each(restarting.map((one) => [one.id, one] as const))('the state of %s does not grow with restarts', (id, one) => {
  const policy = create(one as never, exampleConfigs[id]![0] as never) as unknown as {
    send(event: object): unknown;
    snapshot(): { state: unknown };
  };
  const sizeAfter = (from: number, to: number): number => {
    for (let n = from; n < to; n += 1) policy.send({ type: 'host.restarted', at: 0, idPrefix: `h${1000 + n}-` });
    return JSON.stringify(policy.snapshot().state).length;
  };
  const before = sizeAfter(0, 100);
  expect(sizeAfter(100, 400)).toBeLessThanOrEqual(before);
});
