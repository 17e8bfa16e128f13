import { describe, expect, test } from 'vitest';
import { registry } from '../../src/registry.ts';
import { checkLaws, laws } from '../../src/testing/index.ts';
import { exampleConfigs } from '../support/example-configs.ts';
import { isChosen } from '../support/only.ts';

const runs = Math.ceil(25 * Number(process.env.ROLLFLEX_RUNS ?? 1));
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
