/** The invariants of staleness-pacing, by their numbers in its README, with a host whose books the policy cannot see. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StalenessPacingInput } from '../../src/policies/staleness-pacing/index.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { runs } from '../support/basics/runs.ts';
import { AsynchronousHost } from '../support/hosts/asynchronous.ts';

const configs = fc
  .record({
    groupsPerBatch: fc.integer({ min: 1, max: 3 }),
    maxStaleness: fc.integer({ min: 0, max: 3 }),
    more: fc.option(fc.integer({ min: 0, max: 5 })),
    fewer: fc.option(fc.integer({ min: 0, max: 5 })),
    maxBatches: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ more, fewer, ...rest }): StalenessPacingInput => {
    const { groupsPerBatch: size } = rest;
    return {
      ...rest,
      ...(more === null ? undefined : { windowGroups: size + more }),
      ...(fewer === null ? undefined : { maxGroups: size + fewer }),
    };
  });

/** What waits for the host, if the trainer does: groups in flight, prompts, or the end. */
function expectNoDeadlock(host: AsynchronousHost): void {
  if (host.outstanding.length > 0 || host.isExhausted) return;
  const inFlight = host.live.filter(({ isComplete }) => !isComplete).length;
  expect(inFlight + host.asked, 'invariant 4: the trainer waits, and nothing is on its way').toBeGreaterThan(0);
}

function expectBooks(host: AsynchronousHost): void {
  const { trained, withdrawn, dropped, merged, returned } = host.left;
  const { state } = host.policy.snapshot() as unknown as { state: { waiting: unknown[] } };
  const held = host.live.length + state.waiting.length;
  expect(trained + withdrawn + dropped + merged + returned + held, 'invariant 2: every prompt is once').toBe(
    host.supplied,
  );
}

test('invariants 1 to 4: no group is too old when it is trained, none is dropped, no window is left, nothing stops', () => {
  let lagged = 0;
  fc.assert(
    fc.property(configs, tapes(), fc.integer({ min: 0, max: 150 }), (config, tape, length) => {
      const host = new AsynchronousHost(config, choicesFrom(tape), 5);
      const { groupsPerBatch, maxStaleness = 1, windowGroups = Number.POSITIVE_INFINITY } = config;
      host.onBatch = (groups, { reason }) => {
        const last = Math.max(...groups.map((one) => host.live.indexOf(one)));
        expect(last, 'invariant 3: outside the window').toBeLessThan(windowGroups);
        if (reason.code === 'batch_ready') expect(groups.length).toBe(groupsPerBatch);
        for (const one of groups) expect(one.isComplete).toBe(true);
      };
      for (let step = 0; step < length && !host.isOver; step += 1) {
        host.trouble();
        expectNoDeadlock(host);
        expectBooks(host);
        expect(host.largestLag, 'invariant 1').toBeLessThanOrEqual(maxStaleness);
      }
      host.finish();
      expectBooks(host);
      expect(host.largestLag, 'invariant 1').toBeLessThanOrEqual(maxStaleness);
      expect(host.left.dropped, 'invariant 2: nothing is discarded').toBe(0);
      if (host.largestLag === maxStaleness && maxStaleness > 1) lagged += 1;
    }),
    runs(600),
  );
  expect(lagged, 'runs whose lag reached the bound').toBeGreaterThan(10);
});

test('invariant 1 and 5: where the host skips versions, the fewest groups are dropped, and the bound holds', () => {
  let dropped = 0;
  fc.assert(
    fc.property(configs, tapes(), fc.integer({ min: 10, max: 150 }), (config, tape, length) => {
      const choices = choicesFrom(tape);
      const host = new AsynchronousHost({ ...config, maxBatches: 1 }, choices);
      const { maxStaleness = 1, groupsPerBatch: size } = config;
      for (let step = 0; step < length && !host.isOver; step += 1) {
        const report = host.reports.find(({ type }) => type === 'weights.published');
        if (
          report?.type === 'weights.published' &&
          !host.published.has(report.publicationId) &&
          choices.below(3) === 0
        ) {
          report.weightVersion += choices.below(3);
          const before = host.live.map(({ start }) => start);
          const was = host.left.dropped;
          const wanted = fewestDrops(before, report.weightVersion, maxStaleness, size);
          host.deliver(host.reports.indexOf(report));
          expect(host.left.dropped - was, 'invariant 5').toBe(wanted);
        } else host.trouble();
        expect(host.largestLag, 'invariant 1').toBeLessThanOrEqual(maxStaleness);
      }
      host.finish();
      expectBooks(host);
      dropped += host.left.dropped;
    }),
    runs(400),
  );
  expect(dropped).toBeGreaterThan(10);
});

/**
 * Whether groups that were launched with these versions can all be trained in time: each in a batch of version b ≥ `next`, at most
 * `size` in one, and b at most η after its start. Tries every way to place them.
 */
function canAllTrain(starts: readonly number[], next: number, maxStaleness: number, size: number): boolean {
  const places = new Map<number, number>();
  const place = (index: number): boolean => {
    const start = starts[index];
    if (start === undefined) return true;
    for (let version = next; version <= start + maxStaleness; version += 1) {
      const taken = places.get(version) ?? 0;
      if (taken === size) continue;
      places.set(version, taken + 1);
      if (place(index + 1)) return true;
      places.set(version, taken);
    }
    return false;
  };
  return place(0);
}

/** Fewest groups without which all others can be trained in time, by trying all sets. */
function fewestDrops(starts: readonly number[], next: number, maxStaleness: number, size: number): number {
  let best = starts.length;
  for (let kept = 0; kept < 2 ** starts.length; kept += 1) {
    const some = starts.filter((_, index) => (kept & (1 << index)) !== 0);
    if (starts.length - some.length < best && canAllTrain(some, next, maxStaleness, size))
      best = starts.length - some.length;
  }
  return best;
}

const small: fc.Arbitrary<StalenessPacingInput> = fc
  .record({
    groupsPerBatch: fc.integer({ min: 1, max: 2 }),
    maxStaleness: fc.integer({ min: 0, max: 2 }),
    more: fc.integer({ min: 0, max: 3 }),
    maxBatches: fc.integer({ min: 1, max: 2 }),
  })
  .map(({ more, ...rest }) => ({ ...rest, windowGroups: rest.groupsPerBatch + more }));

test('invariant 6: it launches as many groups, and decides a batch as early, as any safe rule can (brute force)', () => {
  fc.assert(
    fc.property(small, tapes(), fc.integer({ min: 1, max: 80 }), (config, tape, length) => {
      const host = new AsynchronousHost(config, choicesFrom(tape));
      const { maxStaleness = 1, groupsPerBatch: size, windowGroups = 0, maxBatches = 1 } = config;
      const can = (groups: readonly { start: number }[], next: number): boolean =>
        canAllTrain(
          groups.map(({ start }) => start),
          next,
          maxStaleness,
          size,
        );
      for (let step = 0; step < length && !host.isOver && !host.isExhausted; step += 1) {
        host.trouble();
        if (host.isExhausted) return;
        const { state } = host.policy.snapshot() as unknown as {
          state: { weightVersion: number; batches: unknown[] };
        };
        const { live, asked } = host;
        const version = state.weightVersion;
        const next = version + state.batches.length;
        // As many as may be launched now are launched or asked for, and no other would be safe.
        const more = Array.from({ length: asked }, () => ({ start: version }));
        expect(can([...live, ...more], next), 'too many').toBe(true);
        expect(can([...live, ...more, { start: version }], next), 'one more would be safe').toBe(false);
        if (state.batches.length === maxBatches) continue;
        // No batch is possible: each set of P complete groups of the window leaves others that cannot be trained in time.
        const complete = live.slice(0, windowGroups).filter(({ isComplete }) => isComplete);
        for (const chosen of setsOf(complete, size)) {
          const rest = live.filter((one) => !chosen.includes(one));
          expect(can(rest, next + 1), 'a batch would be safe').toBe(false);
        }
      }
    }),
    runs(500),
  );
});

function* setsOf<T>(items: readonly T[], size: number): Iterable<T[]> {
  if (size === 0) yield [];
  else
    for (const [index, one] of items.entries())
      for (const rest of setsOf(items.slice(index + 1), size - 1)) yield [one, ...rest];
}
