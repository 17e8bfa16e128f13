/** The invariants of flexrl, by their numbers in its README, and what holds of the messages of loading. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { create } from '../../src/core/machine/start.ts';
import { flexrl, flexUlysses, isPolicyError, runPlanner, shadowLoader } from '../../src/index.ts';
import { arbitrary } from '../../src/recipes/flexrl/arbitrary.ts';
import { type VocabularyDecision, z } from '../../src/schemas/index.ts';
import { choicesFrom, tapes } from '../../src/testing/index.ts';
import { met, runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';
import { neededFrames } from '../support/oracles/shadow-loader.ts';
import { only } from '../support/sessions/session.ts';

const planner = ['nodes', 'prefetchSteps', 'prefetchFraction', 'idPrefix'];

interface Saved {
  parts: { loader: { state: { samples: { id: string; status: string; media: { frames: number } | null }[] } } };
}

describe('flexrl', () => {
  test.each(exampleConfigs.flexrl!.map((config) => [JSON.stringify(config), config] as const))(
    'invariants 1 to 3 hold with %s',
    (_name, config) => {
      const settings = Object.fromEntries(Object.entries(config).filter(([key]) => !planner.includes(key)));
      let planned = 0;
      let fetched = 0;
      let refused = 0;
      fc.assert(
        fc.property(tapes(), (tape) => {
          const choices = choicesFrom(tape);
          const shadow = flexrl.init(flexrl.config.parse(config));
          const job = create(flexrl, config as never);
          for (let index = 0; index < 100; index += 1) {
            const event = arbitrary(shadow, choices);
            const before = job.snapshot();
            let decisions: VocabularyDecision[];
            try {
              decisions = job.send(event) as VocabularyDecision[];
            } catch (error) {
              if (!isPolicyError(error)) throw error;
              refused += Number(event.type === 'batch.ready');
              expect(job.snapshot(), 'invariant 2').toEqual(before);
              continue;
            }
            flexrl.apply(shadow, event, { at: job.at, emit: () => undefined });
            const plans = only(decisions, 'batch.run');
            expect(plans.length, 'invariant 3').toBe(event.type === 'batch.ready' ? 1 : 0);
            if (event.type !== 'batch.ready') continue;
            planned += 1;
            const [{ assignments }] = plans as [(typeof plans)[0]];
            const lengths = event.sequences.map((one) => one.tokens);
            const plan = runPlanner(flexUlysses, { ...(settings as { devices: number }), lengths });
            expect(
              assignments.map(({ degree, ranks }) => ({ degree, devices: ranks })),
              'invariant 1',
            ).toEqual(plan.assignments.map(({ degree, devices }) => ({ degree, devices })));
            // What is registered is fetched at once, by the ranks of the plan.
            const { samples } = (before.state as Saved).parts.loader.state;
            const needed = samples
              .filter((one) => one.status === 'registered')
              .flatMap(({ id: sampleId, media }) =>
                neededFrames(
                  media!.frames,
                  assignments.filter((one) => one.sampleId === sampleId),
                ).map(([rank, frame]) => `${sampleId} ${rank} ${frame}`),
              );
            const got = only(decisions, 'sample.materialize').flatMap(({ sampleId, rank, fromFrame, toFrame }) =>
              Array.from({ length: toFrame - fromFrame }, (_, at) => `${sampleId} ${rank} ${fromFrame + at}`),
            );
            fetched += got.length;
            expect(got.sort(), 'invariant 1').toEqual(needed.filter((one) => one !== '').sort());
          }
        }),
        runs(25),
      );
      expect(Math.min(planned, fetched, refused)).toBeGreaterThan(met(5));
    },
  );
});

/** What a JSON Schema lets through: every string and every list in it, with where it stands. */
function leaves(schema: Record<string, unknown>, path: string): { path: string; schema: Record<string, unknown> }[] {
  const inner = (one: unknown, key: string) => leaves(one as Record<string, unknown>, `${path}${key}`);
  return [
    { path, schema },
    ...Object.entries((schema.properties ?? {}) as object).flatMap(([key, one]) => inner(one, `.${key}`)),
    ...(schema.items === undefined ? [] : inner(schema.items, '[]')),
    ...['oneOf', 'anyOf', 'allOf'].flatMap((key) =>
      ((schema[key] ?? []) as unknown[]).flatMap((one) => inner(one, '')),
    ),
  ];
}

describe.each([shadowLoader, flexrl])('$id invariant 6: no payload passes the controller', (definition) => {
  const messages = [...definition.events, ...definition.decisions];

  test.each(messages.map((message) => [message.type, message.schema] as const))('%s', (_type, schema) => {
    const { $defs } = z.toJSONSchema(schema as z.ZodType, { reused: 'inline' });
    const [all] = Object.values($defs!) as Record<string, unknown>[];
    const found = leaves(all!, '');
    expect(found.length).toBeGreaterThan(2);
    for (const { path, schema: one } of found) {
      if (one.type === 'object') expect(one.additionalProperties, path).toBe(false);
      // Ids, paths and messages; nothing in which a frame would have room.
      if (one.type === 'string' && one.const === undefined && one.enum === undefined) {
        // A message of any length is cut when it is read.
        if (!path.endsWith('.message')) expect(one.maxLength, path).toBeLessThanOrEqual(4096);
      }
      const { items } = one as { items?: { type?: string } };
      if (one.type === 'array') expect(one.maxItems, path).toBeLessThanOrEqual(1_048_576);
      // Lists of numbers are shapes, ranks, and indices of a plan.
      if (items?.type === 'number' || items?.type === 'integer') {
        expect(
          ['.ranks', '.shape', '.order[]', '.sequences'].some((end) => path.endsWith(end)),
          path,
        ).toBe(true);
      }
      // Everything has a type: nothing is taken as it comes.
      const hasType = ['type', 'const', 'enum', 'oneOf', 'anyOf'].some((key) => one[key] !== undefined);
      expect(hasType, path).toBe(true);
    }
  });
});
