/** Prefixes of ids over many restarts of a host: the last ones are remembered, and nothing grows. */
import { expect, test } from 'vitest';
import { checkNewPrefix, replacePrefix } from '../../../src/core/prefix.ts';
import { registry, startPolicy } from '../../../src/index.ts';
import { exampleConfigs } from '../../support/example-configs.ts';

test('the last 64 before the one in use are refused; those before are forgotten, oldest first', () => {
  const state = { prefix: 'p0', oldPrefixes: [] as string[] };
  const forgotten = Array.from({ length: 66 }, (_, index) => replacePrefix(state, `p${index + 1}`));
  expect(forgotten.indexOf(true)).toBe(64);
  expect(state).toMatchObject({ prefix: 'p66', oldPrefixes: { length: 64, 0: 'p2', 63: 'p65' } });
  for (const known of ['p2', 'p65', 'p66']) {
    expect(() => checkNewPrefix(state, known)).toThrow(expect.objectContaining({ code: 'duplicate_id' }));
  }
  expect(() => checkNewPrefix(state, 'p1')).not.toThrow();
});

test('more of them, as an earlier version saved them, are cut down at the next restart', () => {
  const state = { prefix: 'now', oldPrefixes: Array.from({ length: 500 }, (_, index) => `p${index}`) };
  expect(replacePrefix(state, 'next')).toBe(true);
  expect(state.oldPrefixes).toMatchObject({ length: 64, 63: 'now' });
});

const restarting = registry.policies.filter((one) =>
  (one.events as readonly { type: string }[]).some(({ type }) => type === 'host.restarted'),
);

test.each(restarting.map((one) => [one.id, one] as const))('the state of %s does not grow with restarts', (id, one) => {
  const policy = startPolicy(one as never, exampleConfigs[id]![0]) as unknown as {
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
