/**
 * A host without memory brings every round to its end, and what is drained is empty: from any state of
 * speculative-admission and of the recipes that contain it, invariants 9 and 10 of their READMEs.
 */
import fc from 'fast-check';
import { describe, test } from 'vitest';
import type { AnyPolicyDefinition } from '../../src/core/definition.ts';
import { registry } from '../../src/registry.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { isChosen } from '../support/basics/only.ts';
import { runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import { anySettings, playForgetful, rolloutOnly } from '../support/hosts/forgetful-run.ts';

const chosen = ['speculative-admission', 'tail-batching', 'tail-pipelining', 'rollpacker'].filter(isChosen);

describe.each(chosen)('%s, with a host without memory', (id) => {
  const definition = registry.get(id) as AnyPolicyDefinition;

  test('rounds end, and nothing is left, under every configuration of the examples', () => {
    for (const config of exampleConfigs[id]!) {
      const property = fc.property(tapes(), (tape) => {
        playForgetful(definition, rolloutOnly(id, config), choicesFrom(tape));
      });
      fc.assert(property, runs(4));
    }
  });

  test.runIf(id === 'speculative-admission' || id === 'tail-batching')('and under any other', () => {
    const property = fc.property(tapes(), (tape) => {
      const choices = choicesFrom(tape);
      playForgetful(definition, anySettings(choices), choices);
    });
    fc.assert(property, runs(25));
  });
});
