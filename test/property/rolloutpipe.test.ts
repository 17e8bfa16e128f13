/** The invariants of rolloutpipe, by their numbers in its README: a host with engines, rewards and a trainer that fail. */
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { RolloutPipeInput } from '../../src/index.ts';
import { tapes } from '../../src/testing/index.ts';
import { exampleConfigs } from '../support/example-configs.ts';
import { RolloutPipeHost } from '../support/rolloutpipe-host.ts';

const scale = Number(process.env.ROLLFLEX_RUNS ?? 1);
const tally = new Map<string, number>();

describe('rolloutpipe', () => {
  test.each(exampleConfigs.rolloutpipe!.map((config) => [JSON.stringify(config), config] as const))(
    'invariants 1 to 6 and 8 hold with %s',
    { timeout: 60_000 * scale },
    (_name, config) => {
      fc.assert(
        fc.property(tapes(), (tape) => {
          const host = new RolloutPipeHost(config as RolloutPipeInput, tape);
          for (let step = 0; step < 150; step += 1) host.step();
          host.finish();
          for (const [name, times] of host.tally) tally.set(name, (tally.get(name) ?? 0) + times);
        }),
        { numRuns: 40 * scale, endOnFailure: true },
      );
    },
  );

  afterAll(() => {
    console.log(tally);
    expect(tally.size).toBeGreaterThan(0);
  });
});
