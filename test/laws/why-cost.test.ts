/** What `why` costs: linear in what a policy holds, however much of it waits for however much else. */
import { expect, test } from 'vitest';
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { allOwed, holdingsOf } from '../../src/core/why/why.ts';
import {
  dividedRollout,
  environmentSlots,
  frontierGroupDispatch,
  programScheduling,
  rewardDispatch,
  speculativeAdmission,
} from '../../src/index.ts';
import { itemsWalked } from '../../src/testing/laws/cost.ts';

const times = <T>(n: number, make: (index: number) => T): T[] => Array.from({ length: n }, (_, index) => make(index));
const engine = { type: 'engine.added', engineId: 'e0' };
const opened = (n: number) => ({
  type: 'round.opened',
  roundId: 'r',
  kind: 'short',
  weightVersion: 0,
  prompts: times(n, (index) => ({ promptId: `p${index}` })),
});
const admission = { promptsPerRound: 100_000, responsesPerPrompt: 1, promptSpeculation: 1, responseSpeculation: 1 };
const keep = { partialRollout: true, maxStaleness: 1 };

/** Half of n things run, or are on their way out, and the others wait for them. */
const loads: readonly (readonly [name: string, AnyPolicyDefinition, (n: number) => object, (n: number) => object[]])[] =
  [
    [
      'program-scheduling: programs that wait for room',
      programScheduling as never,
      (n) => ({ kvCapacityTokens: 500 * n }),
      (n) => [
        engine,
        ...times(n, (index) => [
          { type: 'program.opened', requestId: `x${index}`, promptId: `p${index >> 3}`, promptTokens: 100 },
          { type: 'turn.requested', requestId: `x${index}`, contextTokens: 1000 },
        ]).flat(),
      ],
    ],
    [
      'divided-rollout: chunks that wait for room',
      dividedRollout as never,
      (n) => ({ kvCapacityTokens: 150 * n }),
      (n) => [
        engine,
        ...times(n, (index) => ({ type: 'request.opened', requestId: `x${index}` })),
        { type: 'chunks.requested', requests: times(n, (index) => ({ requestId: `x${index}`, promptTokens: 100 })) },
      ],
    ],
    [
      'reward-dispatch: as many workers as dispatches',
      rewardDispatch as never,
      () => ({}),
      (n) => [
        ...times(n / 2, (index) => ({ type: 'reward-worker.added', workerId: `w${index}`, kind: 'rule', slots: 1 })),
        ...times(n, (index) => ({ type: 'reward.requested', requestId: `q${index}`, promptId: 'p', roundId: 'r' })),
      ],
    ],
    [
      'environment-slots: programs that wait for environments',
      environmentSlots as never,
      (n) => ({ slots: { py: n / 2 } }),
      (n) => times(n, (index) => ({ type: 'slot.requested', requestId: `q${index}`, environment: 'py' })),
    ],
    [
      'speculative-admission: responses that wait for slots',
      speculativeAdmission as never,
      (n) => ({ ...admission, maxInFlight: n / 2 }),
      (n) => [opened(n)],
    ],
    [
      'speculative-admission: prompts that wait for their last abort',
      speculativeAdmission as never,
      (n) => ({ ...admission, ...keep, promptsPerRound: n / 2, promptSpeculation: 2 }),
      (n) => [
        opened(n),
        ...times(n / 2, (index) => ({ type: 'response.completed', requestId: `p${index}/0#0`, tokens: 1 })),
      ],
    ],
    [
      'frontier-group-dispatch: groups that wait for slots',
      frontierGroupDispatch as never,
      (n) => ({ responsesPerPrompt: 1, width: n / 2 }),
      (n) =>
        times(n, (index) => ({
          ...{ type: 'request.arrived', requestId: `p${index}/0#0`, promptId: `p${index}` },
          ...{ roundId: 'r', index: 0 },
        })),
    ],
  ];

/** Counts the steps of an answer, each of which looks at one thing, and the items that are looked at within them. */
function costOf(definition: AnyPolicyDefinition, config: object, events: readonly object[]): number {
  const state = definition.init(definition.config.parse(config));
  for (const event of events as never[]) {
    definition.check(state, { at: 0, ...(event as object) } as never);
    definition.apply(state, { at: 0, ...(event as object) } as never, { at: 0, emit: () => undefined });
  }
  let steps = 0;
  const all = allOwed(holdingsOf(definition, state, 0));
  const walked = itemsWalked(() => {
    while (all.next().done !== true) steps += 1;
  });
  return steps + walked;
}

test.each(loads)('%s', (_name, definition, config, events) => {
  const [few, many] = [100, 1000].map((n) => costOf(definition, config(n), events(n)));
  expect(few).toBeGreaterThan(100);
  expect(many! / few!).toBeLessThan(15);
});
