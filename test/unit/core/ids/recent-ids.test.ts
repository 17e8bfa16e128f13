import { expect, test } from 'vitest';
import { mostRecent, RecentIds } from '../../../../src/core/ids/recent-ids.ts';

test('the last ids are known, oldest first, and survive a save', () => {
  const recent = new RecentIds();
  expect([recent.size, recent.newest, [...recent]]).toEqual([0, undefined, []]);
  const ids = Array.from({ length: mostRecent + 3 }, (_, index) => `r${index}`);
  for (const id of ids) recent.add(id);
  expect([...recent]).toEqual(ids.slice(3));
  expect([recent.has('r2'), recent.has('r3'), recent.newest, recent.size]).toEqual([
    false,
    true,
    ids.at(-1),
    mostRecent,
  ]);
  const again = new RecentIds([...recent]);
  for (const one of [recent, again]) one.add('next');
  expect([...again]).toEqual([...recent]);
  expect([again.has('r3'), again.newest]).toEqual([false, 'next']);
});
