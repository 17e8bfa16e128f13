import { describe, expect, test } from 'vitest';
import { registry } from '../../src/registry.ts';
import { checkLaws, laws } from '../../src/testing/index.ts';
import { exampleConfigs } from '../support/example-configs.ts';
import { isChosen } from '../support/only.ts';
import { times } from '../support/runs.ts';

const runs = times(25);
const chosen = registry.policies.filter(({ id }) => isChosen(id));

describe.each(chosen.map((definition) => [definition.id, definition] as const))('%s', (id, definition) => {
  const configs = exampleConfigs[id] ?? [];

  test('has example configurations', () => {
    expect(configs.length).toBeGreaterThan(0);
  });

  for (const law of laws) {
    test(`keeps law ${law.number}: ${law.title}`, () => {
      for (const config of configs) checkLaws(definition, { config, runs, events: 60, only: [law.number] });
    });
  }
});
