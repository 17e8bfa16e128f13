/**
 * Shows what program-scheduling reaches of what is possible, on the named workloads with the KV cache that they state, against an oracle
 * that knows all turns and the times of all tools, and against a bound. Prints the table of docs/agentic.md.
 * `npx tsx bench/simulated/oracles/programs.ts [seeds] [workload...]`, by default 2, and all.
 */
import {
  agenticPreset,
  agenticPresetIds,
  presetWorkload,
  programScheduler,
  simulateAgentic,
} from '../../../src/sim/index.ts';
import { programBound, programOracle, programVariants } from './program-scheduling.ts';

const [seedCount = '2', ...chosen] = process.argv.slice(2);
const seeds = Array.from({ length: Number(seedCount) }, (_, index) => index + 1);

const head = ['workload', 'program-scheduling, s', 'oracle, s', 'of possible', 'bound, s', 'of the bound'];
for (const cells of [head, head.map(() => '---')]) console.log(`| ${cells.join(' | ')} |`);
for (const id of agenticPresetIds) {
  if (chosen.length > 0 && !chosen.includes(id)) continue;
  const { job } = agenticPreset(id);
  let [own, oracle, bound] = [0, 0, 0];
  let worse = 0;
  for (const seed of seeds) {
    const workload = presetWorkload(agenticPreset(id), seed);
    const secondsOf = (scheduler: Parameters<typeof simulateAgentic>[1]): number =>
      simulateAgentic(job, scheduler, workload).makespanSeconds;
    const ours = secondsOf(programScheduler());
    const best = Math.min(...programVariants.map((variant) => secondsOf(programOracle(workload, variant))));
    const least = programBound(job, workload);
    if (Math.min(ours, best) < least) throw new Error('expected nothing below the bound');
    // What the policy reaches can be reached.
    if (ours < best) worse += 1;
    own += ours;
    oracle += Math.min(ours, best);
    bound += least;
  }
  const percent = (part: number): string => `${((100 * part) / own).toFixed(0)} %`;
  const mean = (sum: number): string => (sum / seeds.length).toFixed(sum / seeds.length < 100 ? 1 : 0);
  const mark = worse > 0 ? ` (the policy on ${worse} of ${seeds.length} seeds)` : '';
  const cells = [`\`${id}\``, mean(own), mean(oracle) + mark, percent(oracle), mean(bound), percent(bound)];
  console.log(`| ${cells.join(' | ')} |`);
}
