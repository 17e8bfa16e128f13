/** What `check` of a recipe returns spares `apply` work, and nothing else: the law of a pure `check` is law 3. */
import { expect, test } from 'vitest';
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../../src/core/machine/definition.ts';
import { registry } from '../../../src/registry.ts';
import { likelyEvents } from '../../../src/testing/index.ts';
import { exampleConfigs } from '../../support/examples/configs.ts';

const recipes: readonly AnyPolicyDefinition[] = registry.policies.filter(({ kind }) => kind === 'recipe');

test.each(recipes)('$id decides the same with and without what `check` returned', (definition) => {
  for (const config of exampleConfigs[definition.id]!) {
    const events = likelyEvents(definition, config, [7, 1, 2, 5, 3, 99, 42, 12, 8, 61, 23], 120);
    const states = [0, 1].map(() => definition.init(definition.config.parse(config)));
    let at = 0;
    const apply = (state: unknown, event: AnyEvent, isKept: boolean): AnyDecision[] | undefined => {
      const decisions: AnyDecision[] = [];
      let checked: unknown;
      try {
        checked = definition.check(state, event);
      } catch {
        return undefined;
      }
      const context = { at, emit: (one: AnyDecision) => void decisions.push(one) };
      definition.apply(state, event, context, isKept ? checked : undefined);
      return decisions;
    };
    for (const event of events) {
      at = Math.max(at, event.at);
      expect(apply(states[1], event, false)).toEqual(apply(states[0], event, true));
    }
  }
});
