/**
 * What the steps that flexrl gives a search cost, against the same search of `effort: fast` without a limit: how many of its plans
 * are cut, and how much more these communicate. `npx tsx bench/flex-ulysses/budget.ts`
 */
import { runPlanner } from '../../src/core/machine/start.ts';
import { flexUlysses } from '../../src/planners/flex-ulysses/index.ts';
import { uniform } from '../../src/sim/workload/random.ts';

const batches = 12;
for (const devices of [32, 64, 128]) {
  for (const count of [128, 256]) {
    const more: number[] = [];
    for (let seed = 0; seed < batches; seed += 1) {
      const lengths = Array.from({ length: count }, (_, at) => {
        const isLong = uniform(seed, at, 1) < 0.1;
        return Math.floor(isLong ? 20_000 + 80_000 * uniform(seed, at, 2) : 200 + 4000 * uniform(seed, at, 3));
      });
      const planned = (maxSteps: number) => runPlanner(flexUlysses, { lengths, devices, effort: 'fast', maxSteps });
      const [limited, free] = [planned(3_000_000), planned(1e12)];
      if (limited.cut !== undefined) more.push(100 * (limited.metrics.communication / free.metrics.communication - 1));
    }
    more.sort((a, b) => a - b);
    const at = (share: number): string => (more[Math.floor(share * (more.length - 1))] ?? 0).toFixed(1);
    console.log(
      `${count} sequences on ${devices} devices: ${more.length} of ${batches} cut; these communicate ${at(0)} to ${at(1)} % more, median ${at(0.5)} %`,
    );
  }
}
