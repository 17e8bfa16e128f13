/**
 * Whether intervals of a gain cover other machines: each measured engine, with the factors that all of its runs say, stands for the
 * machine of a user who has measured none or some of them. The constants were fitted without its configuration.
 */
import { mean } from 'simple-statistics';
import { afterMeasuring, factorsOf, jobSlowedBy, unmeasuredMachine } from '../../../src/sim/calibration/machine.ts';
import { machinesOf, overMachines } from '../../../src/sim/calibration/machines.ts';
import { simulate } from '../../../src/sim/colocated/driver.ts';
import type { Job } from '../../../src/sim/colocated/job.ts';
import { synchronousBaseline, tailBatchingScheduler } from '../../../src/sim/colocated/scheduler.ts';
import { jobPreset, rollpackerWorkload } from '../../../src/sim/models/presets.ts';
import type { Predicted } from './errors.ts';
import { drawn, enginesOf, partsOf } from './on-site.ts';

/** Coverage after so many measured points; shares, not percent. */
export interface GainCoverage {
  readonly points: number;
  readonly engines: number;
  /** Share of the machines whose gain lies in the interval of 95 %. */
  readonly coverage: number;
  /** Mean of upper less lower end, in points of the gain. */
  readonly width: number;
}

const preset = jobPreset('qwen2.5-14b-16k');
// A small job, so that each machine takes a second.
const job: Job = { ...preset.job, engines: 8, promptsPerRound: 64, assumed: [] };
const seed = 7;

/** Machines that are asked about several times: those of which nothing was measured, and the true ones. */
const known = new Map<string, number>();

/** Returns the share of the time that tail batching saves on a machine, always with the same responses. */
function gainOn(on: Job): number {
  const key = JSON.stringify(on.cost);
  const gain = known.get(key) ?? simulatedGain(on);
  known.set(key, gain);
  return gain;
}

function simulatedGain(on: Job): number {
  const workload = rollpackerWorkload(preset.capTokens, seed);
  const options = { prompts: 4 * on.promptsPerRound, seed, timeline: false };
  const secondsOf = (scheduler: ReturnType<typeof synchronousBaseline>): number => {
    const { totalSeconds, trainedPrompts } = simulate(on, scheduler, workload, options);
    return totalSeconds / trainedPrompts;
  };
  return 1 - secondsOf(tailBatchingScheduler(on)) / secondsOf(synchronousBaseline(on));
}

/** Returns the coverage over the engines of a list. */
export function gainCoverage(list: readonly Predicted[], points: number): GainCoverage {
  const covered: number[] = [];
  const widths: number[] = [];
  for (const [name, runs] of enginesOf(list)) {
    const truth = gainOn(jobSlowedBy(job, factorsOf(afterMeasuring(unmeasuredMachine(), runs.map(partsOf)))));
    const belief = afterMeasuring(unmeasuredMachine(), drawn(runs, points, name).map(partsOf));
    const known: Job = {
      ...jobSlowedBy(job, factorsOf(belief)),
      machine: { ...belief, logFactors: [0, 0, 0] },
    };
    const gains = machinesOf(known).map(gainOn);
    const { low, high } = overMachines({ value: gains[0]!, low: gains[0]!, high: gains[0]!, confidence: 0.95 }, gains);
    covered.push(truth >= low && truth <= high ? 1 : 0);
    widths.push(high - low);
  }
  return { points, engines: covered.length, coverage: mean(covered), width: mean(widths) };
}
