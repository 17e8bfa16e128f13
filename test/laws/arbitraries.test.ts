/** What the kit's arbitraries make fits the schemas, and what is to be refused is refused. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { create } from '../../src/core/machine/start.ts';
import { isPolicyError, registry } from '../../src/index.ts';
import { events as messages, placedEngines, prompt } from '../../src/schemas/index.ts';
import {
  clusterEvents,
  clusters,
  eventStreams,
  malformedStreams,
  promptBatches,
  sequenceLengths,
} from '../../src/testing/index.ts';
import { runs } from '../support/basics/runs.ts';
import { exampleConfigs } from '../support/examples/configs.ts';

const ids = (list: readonly { promptId: string }[]) => list.map((one) => one.promptId);

test('clusters fit the schemas: each engine once, each GPU in one engine', () => {
  fc.assert(
    fc.property(clusters({ servers: 3, gpusPerServer: 4 }), (cluster) => {
      placedEngines.parse(cluster.engines);
      const gpus = cluster.servers.flatMap((one) => one.gpuIds);
      expect(cluster.engines.flatMap((one) => one.gpuIds)).toEqual(gpus);
      expect(cluster.nodes.flatMap((one) => one.ranks)).toEqual(gpus.map((_, rank) => rank));
      expect(cluster.servers.length).toBeLessThanOrEqual(3);
      for (const event of clusterEvents(cluster, 5))
        messages.find(({ type }) => type === event.type)!.schema.parse(event);
    }),
  );
});

test('batches of prompts fit the schema, each id once', () => {
  const domains = ['code', 'math'];
  fc.assert(
    fc.property(promptBatches({ most: 9, domains, promptTokens: 50 }), (batch) => {
      for (const one of batch) {
        prompt.parse(one);
        expect(domains).toContain(one.domain);
        expect(one.promptTokens).toBeLessThanOrEqual(50);
      }
      expect(new Set(ids(batch)).size).toBe(batch.length);
      expect(batch.length).toBeLessThanOrEqual(9);
    }),
  );
});

test('lengths are what planners take, and have a tail', () => {
  let [short, long] = [0, 0];
  fc.assert(
    fc.property(sequenceLengths({ least: 1, most: 20, longest: 1600 }), (lengths) => {
      for (const length of lengths) length <= 100 ? (short += 1) : (long += 1);
      const { assignments } = registry.plan('flex-ulysses', { lengths, devices: 4, strategy: 'karmarkar-karp' });
      expect(assignments.length).toBe(lengths.length);
    }),
  );
  expect(short).toBeGreaterThan(long);
  expect(long).toBeGreaterThan(0);
});

describe.each(['long-prompt-queue', 'speculative-admission', 'tail-batching', 'reward-dispatch'])('%s', (id) => {
  const definition = registry.get(id) as AnyPolicyDefinition;
  const config = exampleConfigs[id]![0];

  test('takes some of its likely events, and they shrink', () => {
    const taken = (events: readonly { type: string; at: number }[]) => {
      const policy = create(definition, config);
      return events.filter((event) => {
        try {
          policy.send(event);
          return true;
        } catch (error) {
          if (isPolicyError(error)) return false;
          throw error;
        }
      }).length;
    };
    const few = fc.check(
      fc.property(eventStreams(definition, config), (events) => taken(events) < 3),
      { seed: 3 },
    );
    const smallest = few.counterexample![0].length;
    expect(smallest).toBeGreaterThanOrEqual(3);
    expect(smallest).toBeLessThanOrEqual(5);
  });

  test('refuses malformed events and stays as it was', () => {
    fc.assert(
      fc.property(malformedStreams(definition, config, 20), ({ what, before, event }) => {
        const policy = create(definition, config);
        for (const one of before) {
          try {
            policy.send(one);
          } catch (error) {
            if (!isPolicyError(error)) throw error;
          }
        }
        const saved = JSON.stringify(policy.snapshot());
        let refusal: unknown;
        try {
          policy.send(event as never);
        } catch (error) {
          refusal = error;
        }
        expect(isPolicyError(refusal), what).toBe(true);
        expect(JSON.stringify(policy.snapshot())).toBe(saved);
      }),
      runs(40),
    );
  });
});
