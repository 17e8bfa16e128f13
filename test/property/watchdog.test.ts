/** The invariants of watchdog, by their numbers in its README, under random events and restored snapshots. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WaitingTimes } from '../../src/core/why/waiting-times.ts';
import { create, watchdog } from '../../src/index.ts';
import { arbitrary } from '../../src/policies/watchdog/arbitrary.ts';
import type { WatchdogDecision, WatchdogEvent } from '../../src/policies/watchdog/index.ts';
import type { SavedWatchdog } from '../../src/policies/watchdog/state.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

type Owes = Extract<WatchdogDecision, { type: 'host.owes' }>;
type Saved = { state: SavedWatchdog; at: number };

const unasked = ['prompt.collected', 'response.accepted', 'round.drained', 'tool.finished', 'turn.finished'];

/** The limit of each answer, computed again from what was learnt. */
function limitsOf({ state }: Saved, config: { floorSeconds: number; startSeconds: number; factor: number }) {
  const times = new Map(state.owed.commands.times.map(({ answer, times: saved }) => [answer, new WaitingTimes(saved)]));
  const isAsked = state.owed.commands.open.some(({ type }) => type !== 'timer.set' && !unasked.includes(type));
  return ({ answer, type }: { readonly answer: string; readonly type: string }): number => {
    const known = times.get(answer);
    const isKnown = known !== undefined && known.weight >= 8;
    const { floorSeconds, startSeconds, factor } = config;
    let limit = answer === 'timer.fired' ? floorSeconds : startSeconds;
    if (isKnown) limit = Math.max(floorSeconds, factor * known.quantile(0.99));
    else if (isAsked && unasked.includes(type)) return Number.POSITIVE_INFINITY;
    const { timeoutSeconds } = state.owed;
    return answer === 'response.completed' && timeoutSeconds > 0
      ? Math.max(limit, timeoutSeconds + 2 * floorSeconds)
      : limit;
  };
}

/** What was not named, by itself or by its cause. */
function unnamedIn({ state }: Saved, config: never) {
  const { owed } = watchdog.load(state as never, config);
  return owed.commands.marks.filter(({ isNamed, cause }) => !isNamed && !cause.isNamed && !owed.isHostNamed);
}

const idOf = (answer: string, ids: Readonly<Record<string, string>>): string =>
  JSON.stringify([answer, Object.entries(ids).sort()]);

describe.each(exampleConfigs.watchdog!.map((config) => [JSON.stringify(config), config] as const))('%s', (_, given) => {
  test('invariants 1 to 5', () => {
    fc.assert(
      fc.property(tapes(), (tape) => {
        const choices = choicesFrom(tape);
        let dog = create(watchdog, given as never);
        const { config } = dog;
        const named = new Set<string>();
        for (let turn = 0; turn < 150; turn += 1) {
          const before = dog.snapshot() as unknown as Saved;
          const live = watchdog.load(before.state as never, config);
          const event: WatchdogEvent = arbitrary(live, choices);
          if (choices.below(4) === 0) dog = create(watchdog, { snapshot: JSON.parse(JSON.stringify(before)) });
          const decisions = dog.send(event);
          const after = dog.snapshot() as unknown as Saved;
          const limit = limitsOf(after, config);
          const open = after.state.owed.commands.open;
          // 5
          expect(open.length).toBeLessThanOrEqual(config.maxOwed);
          // 4
          const unnamed = unnamedIn(after, config as never);
          if (unnamed.some(({ one }) => limit(one) < Number.POSITIVE_INFINITY))
            expect(after.state.armedAt).not.toBeNull();
          const here = new Set(open.map(({ answer, ids }) => idOf(answer, ids)));
          for (const id of named) if (!here.has(id)) named.delete(id);
          if (event.type !== 'timer.fired' || event.timerId !== 'watchdog/check') continue;
          const notices = decisions.filter((one): one is Owes => one.type === 'host.owes');
          expect(notices.length).toBeLessThanOrEqual(32);
          for (const { event: answer, ids, count, reason } of notices) {
            // 1
            expect(reason.waitedSeconds).toBeGreaterThanOrEqual(reason.limitSeconds);
            expect(reason.limitSeconds).toBeGreaterThanOrEqual(config.floorSeconds);
            const id = idOf(answer, ids);
            expect(here).toContain(id);
            // 2
            if (reason.code !== 'overdue' || count > 1) continue;
            expect(named).not.toContain(id);
            named.add(id);
          }
          // 3
          if (before.state.armedAt === null || after.state.owed.isHostNamed || after.state.armedAt === after.at + 1)
            continue;
          for (const { one, cause } of unnamed)
            expect(Math.max(one.since, cause.freshAt) + limit(one)).toBeGreaterThan(after.at);
        }
      }),
      runs(150),
    );
  });
});
