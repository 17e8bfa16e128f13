/** What follows from failures and verdicts for an item with a budget, and which domains are suspended after an event. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SharedFaults, type Where, wholeOf } from '../../../../src/core/rollout/shared-faults.ts';
import {
  type Account,
  afterFailure,
  afterVerdict,
  notCompared,
  suspendFailing,
  type TriesOf,
} from '../../../../src/core/rollout/tries.ts';

const few = fc.integer({ min: 0, max: 4 });
const account: fc.Arbitrary<Account> = fc.record({
  failures: few,
  open: few,
  budget: few,
  asideAt: fc.option(fc.integer({ min: 0, max: 50 })),
  giveUpSeconds: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
});

describe('an item with a budget', () => {
  test('is over it by its own failures alone, and is set aside while others may be its own', () => {
    fc.assert(
      fc.property(account, (one) => {
        const next = afterFailure(one, 50);
        expect(next === 'over').toBe(one.failures > one.budget);
        expect(afterVerdict(one, true)).toBe(next === 'over' ? 'over' : 'waits');
        if (next === 'over') return;
        const isAside = next === 'not_compared' || next.asideAt !== null;
        expect(isAside).toBe(one.failures + one.open > one.budget);
        // A forgotten failure lets it go on exactly if it need not be set aside any more.
        expect(afterVerdict(one, false) === 'again').toBe(one.asideAt !== null && !isAside);
      }),
    );
  });

  test('is given up only after it was aside for as long as it may be, and is aside since the first time', () => {
    fc.assert(
      fc.property(account, fc.integer({ min: 50, max: 110 }), (one, at) => {
        const next = afterFailure(one, at);
        if (next === 'not_compared') {
          const { seconds, limitSeconds, failures } = notCompared(one, at);
          expect(seconds).toBeGreaterThanOrEqual(limitSeconds);
          expect(failures).toBe(one.open);
        } else if (next !== 'over' && next.asideAt !== null) {
          expect(next.asideAt).toBe(one.asideAt ?? at);
          expect(at - next.asideAt).toBeLessThan(one.giveUpSeconds ?? Number.POSITIVE_INFINITY);
        }
      }),
    );
  });
});

test('parts in which different items fail are suspended, then the whole; what they failed in a part alone is forgotten', () => {
  const faults = new SharedFaults();
  const told: { type: string; id?: string }[] = [];
  const ctx = { at: 0, emit: (one: object) => told.push(one as never) } as never;
  const parts: Where[] = ['e0', 'e1'].map((id) => ({ scope: 'engine', id }));
  const log: unknown[] = [];
  let order = 0;
  const tries: TriesOf<undefined> = {
    order: () => 100,
    inFlight: () => 0,
    hasOther: (_, { id }) => id === null,
    parts: () => parts,
    suspended: (_, { id }) => log.push(['suspended', id]),
    judge: (_, { failure, isOwn }) => log.push([failure.item, isOwn]),
  };
  const fail = (items: string, part: Where) => {
    for (const item of items)
      faults.failed({ ...part, item, place: 0, kind: 'x', order: order++, isGood: false }, '', 0);
  };
  fail('abcd', parts[0]!);
  expect(suspendFailing(faults, tries, undefined, ctx)).toBe(true);
  expect(log).toEqual([['suspended', 'e0'], ...[...'abcd'].map((item) => [item, false])]);
  expect(faults.find(wholeOf('engine'))!.forgiven).toEqual(new Set('abcd'));
  expect(suspendFailing(faults, tries, undefined, ctx)).toBe(false);
  fail('efgh', parts[1]!);
  log.length = 0;
  expect(suspendFailing(faults, tries, undefined, ctx)).toBe(true);
  expect(log.filter((one) => (one as unknown[])[0] === 'suspended')).toEqual([
    ['suspended', 'e1'],
    ['suspended', null],
  ]);
  expect([...faults.dueParts('engine', 1)]).toEqual(['e0', 'e1']);
  expect([...faults.dueParts('engine', 0.5)]).toEqual([]);
  // A single try runs in all of its suspended domains; its reason names the first, and its part is not due again.
  const single = faults.begin([wholeOf('engine'), parts[0]!], 't', 'i', 2);
  expect(single).toEqual({ code: 'probe', scope: 'engine', failures: 4 + 4, pauseSeconds: 2 });
  expect([...faults.dueParts('engine', 2)]).toEqual(['e1']);
  expect(faults.begin([{ scope: 'environment', id: null }], 'u', 'i', 2)).toBeUndefined();
  expect(told.map((one) => [one.type, one.id])).toEqual([
    ['tries.suspended', 'e0'],
    ['tries.suspended', 'e1'],
    ['tries.suspended', undefined],
  ]);
});
