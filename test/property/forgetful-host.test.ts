/**
 * A host without memory brings every round to its end, and what is drained is empty: from any state of
 * speculative-admission and of the recipes that contain it, invariants 9 and 10 of their READMEs. This is law 12 with a
 * host that makes trouble, and with configurations beside those of the examples.
 */
import fc from 'fast-check';
import { describe, test } from 'vitest';
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { registry } from '../../src/registry.ts';
import { choicesFrom, laws, likelyEvents, tapes } from '../../src/testing/index.ts';
import { isChosen } from '../support/basics/only.ts';
import { runs } from '../support/basics/runs.ts';
import { anySettings } from '../support/examples/any-settings.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import { strayResponses } from '../support/hosts/saved-places.ts';
import { trouble } from '../support/hosts/trouble.ts';
import { patched } from '../support/wrong/hand-made.ts';

const chosen = ['speculative-admission', 'tail-batching', 'tail-pipelining', 'rollpacker'].filter(isChosen);
const law = laws.find(({ number }) => number === 12)!;

/** The same policy; what its assembly remembers of nobody's prompts counts as held. */
function withStrays(definition: AnyPolicyDefinition): AnyPolicyDefinition {
  const held = (state: unknown): string[] =>
    (state as { parts?: { assembly?: unknown } }).parts?.assembly === undefined ? [] : strayResponses(state);
  const strays = { name: 'stray responses', held, entered: () => [], left: () => [] };
  return patched(definition, { ledgers: [...definition.ledgers, strays] });
}

describe.each(chosen)('%s, with a host without memory', (id) => {
  const definition = withStrays(registry.get(id) as AnyPolicyDefinition);

  const finishes = (config: Record<string, unknown>, tape: readonly number[]): void => {
    const events = likelyEvents(definition, config, tape, choicesFrom(tape).below(120));
    law.check({ definition, config, events, hints: trouble });
  };

  test('rounds end, and nothing is left, under every configuration of the examples', () => {
    for (const config of exampleConfigs[id]!) {
      const property = fc.property(tapes(), (tape) => finishes(config, tape));
      fc.assert(property, runs(4));
    }
  });

  test.runIf(id === 'speculative-admission' || id === 'tail-batching')('and under any other', () => {
    const property = fc.property(tapes(), (tape) => finishes(anySettings(choicesFrom(tape)), tape));
    fc.assert(property, runs(25));
  });
});
