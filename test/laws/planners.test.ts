import { describe, expect, test } from 'vitest';
import { registry } from '../../src/registry.ts';
import { plannerLaws } from '../../src/testing/index.ts';
import { isChosen } from '../support/basics/only.ts';
import { exampleInputs } from '../support/examples/inputs.ts';

const chosen = registry.planners.filter(({ id }) => isChosen(id));

describe.each(chosen.map((definition) => [definition.id, definition] as const))('%s', (id, definition) => {
  const inputs = exampleInputs[id] ?? [];

  test('has example inputs', () => {
    expect(inputs.length).toBeGreaterThan(0);
  });

  test.each(plannerLaws)('$title', ({ check }) => {
    for (const input of inputs) check({ definition, input });
  });
});
