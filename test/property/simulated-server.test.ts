/** The server in a deterministic simulation: seeds of crashes, lost writes and broken connections, and bugs that they must find. */
import { describe, expect, test } from 'vitest';
import { times } from '../support/basics/runs.ts';
import { firstFinding, plantedBugs } from '../support/simulated-server/plants.ts';
import { damages, playSeed } from '../support/simulated-server/story.ts';

const seeds = times(1000);
// Of every planted bug none needed more than the first 134; of some 38 mutants of the server, those that it finds needed at most 4.
const seedsForBugs = Math.max(seeds, 300);
const timeout = 300_000;

describe('a simulated server', () => {
  test(
    `${seeds} seeds: nothing acknowledged is lost, nothing is applied or answered twice`,
    async () => {
      const seen: Record<string, number> = {};
      for (let seed = 0; seed < seeds; seed += 1) {
        for (const [what, count] of Object.entries((await playSeed(seed)).seen)) seen[what] = (seen[what] ?? 0) + count;
      }
      // What seeds never do, they cannot find.
      const crashes = ['stop', 'kill', 'machine', 'interrupted start'];
      const disks = ['failed write', 'stalled write', 'lost writes', ...damages.map((kind) => `damage ${kind}`)];
      const connections = ['broken', 'half-open', 'half-closed'].map((kind) => `${kind} connection`);
      for (const what of [...crashes, ...disks, ...connections, 'slow reader', 'write while a call pauses'])
        expect(seen[what], what).toBeGreaterThan(seeds / 200);
    },
    timeout,
  );

  test('the same seed has the same trace, and another seed another', async () => {
    const digests = new Set<string>();
    for (let seed = 0; seed < 10; seed += 1) {
      const [{ digest }, again] = [await playSeed(seed), await playSeed(seed, { traced: true })];
      expect(again.digest).toBe(digest);
      expect(again.trace.length).toBeGreaterThan(1000);
      digests.add(digest);
    }
    expect(digests.size).toBe(10);
  });

  // A closed connection still waited for its client to read, after the server had stopped.
  test('seed 99784, which once broke a rule', async () => {
    await playSeed(99_784);
  });

  test.each(Object.entries(plantedBugs))(
    'finds a planted bug: %s',
    async (name, bug) => {
      const found = await firstFinding(bug, seedsForBugs);
      expect(found, name).toBeDefined();
      expect(found!.message).toMatch(/^seed \d+: rule \d+: /);
      expect(found!.message).toContain(`--seed ${found!.seed}`);
    },
    timeout,
  );
});
