import fc from 'fast-check';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { registry } from '../../src/registry.ts';
import { scopesOf } from '../../src/testing/hosts/bad-day.ts';
import { checkLaws, type Law, laws, likelyEvents, tapes } from '../../src/testing/index.ts';
import { withEvents } from '../../src/testing/runs/tested.ts';
import { isChosen, isWhole } from '../support/basics/only.ts';
import { scale, times } from '../support/basics/runs.ts';
import { exampleConfigs, mayForget } from '../support/examples/configs.ts';
import { contradicting } from '../support/hosts/contradicting.ts';

const { seed: usual = 0 } = fc.readConfigureGlobal();

/** Checks a law: by one long run of its own, drawn by its number, or in all runs by many. A run that breaks it is made smaller. */
function check(definition: AnyPolicyDefinition, config: unknown, law: Law, index: number): void {
  const seed = usual + 100 * law.number + index;
  const tested = contradicting(withEvents(definition));
  const search = () => void checkLaws(tested, { config, runs: times(20), events: 60, only: [law.number], seed });
  if (scale >= 1) return search();
  const [tape] = fc.sample(tapes(), { seed, numRuns: 1 });
  try {
    law.check({ definition, config, events: likelyEvents(tested, config, tape!, 60) });
  } catch (error) {
    search();
    throw error;
  }
}

/**
 * All configurations of a policy in all runs, and where it is the only one; else one for each law: every law meets some, and every
 * one some laws.
 */
const inTurn = <T>(all: readonly T[], law: number): readonly T[] =>
  scale >= 1 || !isWhole || all.length === 0 ? all : [all[law % all.length]!];

// Of clocks that begin anew.
beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());

type Settings = Readonly<Record<string, unknown>>;

const chosen = registry.policies.filter(({ id }) => isChosen(id));

describe.each(chosen.map((definition) => [definition.id, definition] as const))('%s', (id, definition) => {
  const configs = exampleConfigs[id] ?? [];

  test('has example configurations', () => {
    expect(configs.length).toBeGreaterThan(0);
  });

  for (const law of laws) {
    test(`keeps law ${law.number}: ${law.title}`, () => {
      const all = [...configs.entries()].filter(([, config]) => law.number !== 12 || mayForget(config));
      for (const [index, config] of inTurn(all, law.number)) check(definition, config, law, index);
    });
  }
});

test('laws 19 and 20 say something of every policy that asks for tries which may fail', () => {
  const said = registry.policies.filter((definition) =>
    exampleConfigs[definition.id]!.some(
      (one) => scopesOf(definition, definition.config.parse(one) as Settings).length > 0,
    ),
  );
  expect(said.map(({ id }) => id)).toEqual([
    ...['speculative-admission', 'reward-dispatch', 'frontier-group-dispatch', 'shadow-loader', 'environment-slots'],
    ...['tail-batching', 'lossless-tail', 'agentic-rollout', 'rollpacker', 'rolloutpipe', 'tail-pipelining', 'flexrl'],
  ]);
});

test('every policy takes host.restarted, but the queue, which has nothing in flight', () => {
  const without = registry.policies.filter(({ events }) => !events.some(({ type }) => type === 'host.restarted'));
  expect(without.map(({ id }) => id)).toEqual(['long-prompt-queue']);
});

test('every policy says what blocks what', () => {
  const silent = registry.policies.filter(({ waits }) => waits === undefined);
  expect(silent.map(({ id }) => id)).toEqual([]);
});
