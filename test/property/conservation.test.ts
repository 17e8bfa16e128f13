/**
 * Conservation under arbitrary interleavings, against a model of the host: it knows only what it sent and what it was
 * told, and from that alone where every prompt and every response must be. The numbers are those of the invariants in
 * the READMEs of the policies.
 */

import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { AnyEvent, AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { create } from '../../src/core/machine/start.ts';
import { isPolicyError } from '../../src/errors.ts';
import { registry } from '../../src/registry.ts';
import type { VocabularyDecision } from '../../src/schemas/index.ts';
import { checkConservation, choicesFrom, ModelHost, tapes } from '../../src/testing/index.ts';
import { arbitraryOf } from '../../src/testing/runs/tested.ts';
import { isChosen, isWhole } from '../support/basics/only.ts';
import { met, runs, times } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import { savedPlaces } from '../support/hosts/saved-places.ts';

const chosen = ['speculative-admission', 'tail-batching', 'lossless-tail'].filter(isChosen);
let events = 0;

function runOne(
  definition: AnyPolicyDefinition,
  config: Record<string, unknown>,
  tape: readonly number[],
  length: number,
): void {
  const parsed = definition.config.parse(config);
  const state = definition.init(parsed);
  const choices = choicesFrom(tape);
  const takes = definition.events.map(({ type }) => type);
  const host = new ModelHost(definition.config.parse(config) as never, takes);
  let policy = create(definition, config);
  for (let index = 0; index < length; index += 1) {
    const event: AnyEvent = arbitraryOf(definition)(state, choices);
    events += 1;
    let decisions: VocabularyDecision[];
    try {
      decisions = policy.send(event) as VocabularyDecision[];
    } catch (error) {
      if (!isPolicyError(error) || error.code === 'internal') throw error;
      continue;
    }
    // The shadow only serves to find likely events.
    definition.apply(state, event, { at: policy.at, emit: () => undefined });
    host.heard(event, decisions);
    if (choices.below(10) === 0)
      policy = create(definition, { snapshot: JSON.parse(JSON.stringify(policy.snapshot())) });
    if (index % 8 === 7 || index === length - 1) host.books.compareWith(savedPlaces(policy.snapshot().state));
  }
  finish(policy as never, host);
}

/** Invariant 6: with a host that plays along, the open round ends, and drains. */
function finish(policy: { send(event: AnyEvent): VocabularyDecision[]; at: number }, host: ModelHost): void {
  for (let step = 0; step < 3000; step += 1) {
    const event = host.cooperate(policy.at);
    if (event === undefined) return;
    events += 1;
    const decisions = policy.send(event as never);
    host.heard(event, decisions);
  }
  throw new Error(`the round does not end: ${host.books.describe()}`);
}

describe.each(chosen)('%s', (id) => {
  const definition = registry.get(id) as AnyPolicyDefinition;
  test.each(exampleConfigs[id]!.map((config) => [JSON.stringify(config), config] as const))(
    'invariants 1 to 8 hold with %s',
    (_name, config) => {
      fc.assert(
        fc.property(tapes(), (tape) => runOne(definition, config, tape, 150)),
        runs(100),
      );
    },
  );
});

describe.each(chosen)('%s, against the host of the kit', (id) => {
  const definition = registry.get(id) as AnyPolicyDefinition;
  test.each(exampleConfigs[id]!.map((config) => [JSON.stringify(config), config] as const))(
    'nothing is lost or twice with %s',
    (_name, config) => checkConservation(definition, { config, runs: times(40), events: 100 }),
  );
});

afterAll(() => {
  // 17 configurations × 100 runs × 150 events, and those of the endings.
  if (isWhole) expect(events).toBeGreaterThan(met(200_000));
});
