/**
 * A restart of the host with older weights drops nothing that a restart with the same would keep, in no policy. That all reports after
 * a restart with other weights are taken is part of law 12.
 */
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { create } from '../../src/core/machine/start.ts';
import { registry } from '../../src/registry.ts';
import { likelyEvents, tapes } from '../../src/testing/index.ts';
import { answer, newSubject, type Subject } from '../../src/testing/runs/run.ts';
import { withEvents } from '../../src/testing/runs/tested.ts';
import { copy, valuePaths } from '../../src/testing/runs/values.ts';
import { isChosen } from '../support/basics/only.ts';
import { runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import { contradicting } from '../support/hosts/contradicting.ts';

const takesRestart = registry.policies.filter(
  ({ id, events }) => isChosen(id) && events.some(({ type }) => type === 'host.restarted'),
);
/** Reasons for which work is given up since its weights are too old. */
const tooOld = new Set(['stale_weights', 'version_skipped']);

/** What a restart gives up since it is too old. */
function dropped(
  definition: AnyPolicyDefinition,
  snapshot: unknown,
  at: number,
  told: { weightVersion?: number },
): string[] {
  const fork = create(definition, { snapshot: copy(snapshot) as never });
  const given = answer(
    fork as unknown as Subject,
    { type: 'host.restarted', at, idPrefix: 'again-', ...told } as never,
  );
  if ('refused' in given) throw given.refused;
  return given.decisions
    .filter(({ reason }) => tooOld.has(reason.code))
    .map(({ reason, ...decision }) => JSON.stringify({ ...decision, reason: reason.code }));
}

test.each(takesRestart.map((one) => [one.id, one] as const))(
  '%s: older weights make nothing too old',
  (id, definition) => {
    vi.spyOn(console, 'warn').mockReturnValue();
    const tested = contradicting(withEvents(definition));
    for (const config of exampleConfigs[id]!) {
      const property = fc.property(tapes(), fc.integer({ min: 1, max: 80 }), (tape, length) => {
        const subject = newSubject(definition, config);
        for (const event of likelyEvents(tested, config, tape, length)) answer(subject, event);
        const snapshot = subject.snapshot();
        const versions = valuePaths(snapshot.state).flatMap(([path, value]) =>
          path.at(-1) === 'weightVersion' ? [value as number] : [],
        );
        const kept = dropped(definition, snapshot, subject.at, {});
        for (const weightVersion of new Set([0, Math.min(...versions, 1_000_000)])) {
          const lost = dropped(definition, snapshot, subject.at, { weightVersion });
          expect(lost.filter((one) => !kept.includes(one))).toEqual([]);
        }
      });
      fc.assert(property, runs(id === 'flexrl' ? 5 : 30));
    }
  },
);
