import { describe, expect, test } from 'vitest';
import { registry } from '../../src/registry.ts';
import { answers } from '../../src/schemas/answers.ts';
import { decisions } from '../../src/schemas/decisions/index.ts';
import { checkLaws, laws } from '../../src/testing/index.ts';
import { isChosen } from '../support/basics/only.ts';
import { times } from '../support/basics/runs.ts';
import { exampleConfigs, mayForget } from '../support/examples/configs.ts';

const runs = times(20);
const chosen = registry.policies.filter(({ id }) => isChosen(id));

describe.each(chosen.map((definition) => [definition.id, definition] as const))('%s', (id, definition) => {
  const configs = exampleConfigs[id] ?? [];

  test('has example configurations', () => {
    expect(configs.length).toBeGreaterThan(0);
  });

  for (const law of laws) {
    test(`keeps law ${law.number}: ${law.title}`, () => {
      for (const config of law.number === 12 ? configs.filter(mayForget) : configs)
        checkLaws(definition, { config, runs, events: 60, only: [law.number] });
    });
  }
});

test('every policy takes host.restarted, but the queue, which has nothing in flight', () => {
  const without = registry.policies.filter(({ events }) => !events.some(({ type }) => type === 'host.restarted'));
  expect(without.map(({ id }) => id)).toEqual(['long-prompt-queue']);
});

test('every policy says what blocks what', () => {
  const silent = registry.policies.filter(({ waits }) => waits === undefined);
  expect(silent.map(({ id }) => id)).toEqual([]);
});

test('it is written down which event answers each command', () => {
  const commands = decisions.filter(({ kind }) => kind === 'command').map(({ type }) => type);
  expect(Object.keys(answers).sort()).toEqual([...commands].sort());
});
