/** Whatever shadow-loader holds after a restart is named, so that a host that has forgotten all of it can end it. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Choices } from '../../src/core/generators/choices.ts';
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { create } from '../../src/core/machine/start.ts';
import { isPolicyError } from '../../src/errors.ts';
import { flexrl, shadowLoader } from '../../src/index.ts';
import type { ShadowLoaderDecision } from '../../src/policies/shadow-loader/index.ts';
import { choicesFrom, likelyEvents, tapes } from '../../src/testing/index.ts';
import { met, runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import { ForgetfulLoader, type Send } from '../support/hosts/forgetful-loader.ts';

interface Saved {
  steps: { id: string; closed: boolean }[];
  samples: { id: string; step: string }[];
  batches: { id: string }[];
}
type Session = { send(event: unknown): ShadowLoaderDecision[]; snapshot(): { state: unknown } };

const heldBy = (session: Session): Saved => {
  const state = session.snapshot().state as Saved & { parts?: { loader: { state: Saved } } };
  return state.parts?.loader.state ?? state;
};

/** Likely events, then a restart that nothing but the snapshot survives, then a host that knows what it is told. */
function run(definition: AnyPolicyDefinition, config: object, tape: readonly number[], most: number): number {
  const choices = choicesFrom(tape);
  const before = create(definition, config) as unknown as Session;
  for (const event of likelyEvents(definition, config, tape, 1 + choices.below(most))) {
    try {
      before.send(event);
    } catch (error) {
      if (!isPolicyError(error)) throw error;
    }
  }
  let session = before;
  const restore = (): void => {
    session = create(definition, { snapshot: JSON.parse(JSON.stringify(session.snapshot())) }) as unknown as Session;
  };
  const send = (event: object) => {
    if (choices.below(8) === 0) restore();
    return session.send(event);
  };
  const held = heldBy(before).samples.length;
  // The host restarts once, or again while it begins anew.
  for (let restarts = choices.below(3); restarts > 0; restarts -= 1) {
    const host = restart(`again-${restarts}-`, definition, () => session, send, choices);
    host.addNode(60);
    host.begin(choices.below(12));
  }
  restore();
  const host = restart('again-', definition, () => session, send, choices);
  host.addNode(100);
  host.finish();
  expect(heldBy(session)).toMatchObject({ steps: [], samples: [], batches: [] });
  return held;
}

/** A host that has forgotten everything, and what it is told first: all that is held is named. */
function restart(
  name: string,
  { kind }: AnyPolicyDefinition,
  session: () => Session,
  send: Send,
  choices: Choices,
): ForgetfulLoader {
  const open = heldBy(session());
  const host = new ForgetfulLoader(name, send, choices, kind === 'recipe');
  host.send({ type: 'host.restarted', idPrefix: name });
  const after = heldBy(session());
  const openSteps = open.steps.filter((one) => !one.closed).map((one) => one.id);
  expect(host.steps.map((one) => one.stepId)).toEqual(openSteps);
  expect(after.steps.map((one) => one.id)).toEqual(openSteps);
  for (const { stepId, samples } of host.steps) {
    const own = after.samples.filter((one) => one.step === stepId).map((one) => one.id);
    // What is too large for every node is dropped, by name, behind it.
    expect(samples.filter((one) => own.includes(one))).toEqual(own);
  }
  expect(host.abandoned).toEqual(open.batches.map((one) => one.id));
  return host;
}

function anyConfig({ below }: Choices): object {
  const nodes = Array.from({ length: below(4) }, (_, number) => ({
    ...{ nodeId: `n${number}`, hostMemoryBytes: 30 + 10 * below(8), weight: 1 + below(2) },
    ...(below(2) === 0 ? { slots: 1 + below(2) } : undefined),
    ...(below(3) === 0 ? undefined : { ranks: [2 * number, 2 * number + 1] }),
  }));
  const retry = { infrastructure: below(3), data: below(2), transfer: below(3) };
  return { nodes, prefetchSteps: below(4), prefetchFraction: below(5) / 4, retry, idPrefix: ['', 'p-'][below(2)] };
}

describe('invariant 10: a host without memory finishes', () => {
  test.each(exampleConfigs['shadow-loader']!.map((config, index) => [index, config] as const))(
    'shadow-loader with configuration %i',
    (_index, config) => {
      let samples = 0;
      fc.assert(
        fc.property(tapes(), (tape) => {
          samples += run(shadowLoader, config, tape, 150);
        }),
        runs(12),
      );
      expect(samples).toBeGreaterThan(met(50));
    },
  );

  test('shadow-loader with any configuration', () => {
    const property = fc.property(tapes(), (tape) => void run(shadowLoader, anyConfig(choicesFrom(tape)), tape, 150));
    fc.assert(property, runs(15));
  });

  test.each(exampleConfigs.flexrl!.map((config, index) => [index, config] as const))(
    'flexrl with configuration %i',
    (_index, config) => {
      fc.assert(
        // The quickest plans: what is loaded is the same.
        fc.property(tapes(), (tape) => void run(flexrl, { ...config, strategy: 'ulysses' }, tape, 80)),
        runs(3),
      );
    },
  );
});
