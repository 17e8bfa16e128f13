/**
 * Shows whether the budget of `advise` buys blunter answers: on 20 workloads that did not choose the budget, its saving against that
 * of `thorough`, as each says it, and what the settings of both save in the same new runs. Rounds are an eighth of the usual
 * ones, and so is the budget. `npx tsx bench/simulated/advise-budget.ts [--only 0,5,…]`
 */
import { parseArgs } from 'node:util';
import { jobOfOptions } from '../../src/cli/job/job.ts';
import { type AdviseQuestion, adviseEvaluator, advising } from '../../src/sim/advise/advising.ts';
import type { Answer } from '../../src/sim/advise/answer.ts';
import { type TrainerId, trainerOf } from '../../src/sim/advise/trainers.ts';
import type { JobPresetId } from '../../src/sim/models/presets.ts';
import { usualBudget } from '../../src/sim/sweep/plan.ts';
import type { SweepOptions } from '../../src/sim/sweep/result.ts';
import { keyOf, type SynchronousSettings } from '../../src/sim/sweep/settings/settings.ts';
import { generatedWorkload, type Lengths } from './generated.ts';

const { values } = parseArgs({ options: { only: { type: 'string' } } });

interface Case extends Lengths {
  readonly preset: JobPresetId;
  readonly trainer: TrainerId;
}

const presets = [
  ['qwen2.5-7b-8k', 1],
  ['qwen2.5-14b-16k', 2],
  ['qwen2.5-32b-32k', 4],
] as const;
const trainers: readonly TrainerId[] = ['own', 'verl', 'slime', 'roll'];
const medians = [700, 1500, 900, 2200, 1200];
const spreads = [0.5, 0.9, 1.2, 0.7];
const cases = Array.from({ length: 40 }, (_, index): Case => {
  const [preset, scale] = presets[index % presets.length]!;
  return {
    preset,
    trainer: trainers[index % trainers.length]!,
    median: scale * medians[index % medians.length]!,
    spread: spreads[(index * 3 + Math.floor(index / 4)) % spreads.length]!,
    correlation: [0.2, 0.5, 0.8][Math.floor(index / 3) % 3]!,
  };
});

/** Share of the usual round, and of the budget. */
const share = 1 / 8;
const shape = { promptsPerRound: 32, responsesPerPrompt: 4 };
function questionOf({ preset, trainer, ...lengths }: Case, seed: number): AdviseQuestion {
  const { job, capTokens } = jobOfOptions({ preset, ...shape, engines: 4 });
  return { trainer: trainerOf(trainer), job, workload: generatedWorkload(lengths, { capTokens, seed }), steps: 10 };
}

function answered(question: AdviseQuestion, options: SweepOptions): { answer: Answer; seconds: number } {
  const begun = performance.now();
  const evaluate = adviseEvaluator(question);
  const work = advising(question, options);
  let next = work.next();
  while (next.done !== true) next = work.next(next.value.tasks.map(evaluate));
  return { answer: next.value, seconds: (performance.now() - begun) / 1000 };
}

/** Share of time that settings save in runs that neither search has seen. */
function savedAnew(question: AdviseQuestion, settings: readonly (SynchronousSettings | null)[]): number[] {
  const evaluate = adviseEvaluator(question);
  const seconds = [...settings, 'baseline' as const].map((one) => {
    let sum = 0;
    for (let seed = 501; seed <= 508; seed += 1) {
      const run = evaluate({ kind: 'search', task: { settings: one ?? 'baseline', seed, part: 'confirmation' } });
      if ('secondsPerPrompt' in run) sum += run.secondsPerPrompt;
    }
    return sum;
  });
  return seconds.slice(0, -1).map((one) => 1 - one / seconds.at(-1)!);
}

const percent = (value: number): string => `${(100 * value).toFixed(1)}%`;
const chosen = values.only === undefined ? [...cases.keys()] : values.only.split(',').map(Number);
let blunter = 0;
for (const index of chosen) {
  const one = cases[index]!;
  const question = questionOf(one, index);
  const within = answered(question, { budget: usualBudget * share, seed: 1 });
  const thorough = answered(question, { thorough: true, seed: 1 });
  const [a, b] = [within.answer, thorough.answer];
  const [ofBudget, ofThorough] = savedAnew(question, [a.settings, b.settings]) as [number, number];
  const isSame = JSON.stringify(a.settings && keyOf(a.settings)) === JSON.stringify(b.settings && keyOf(b.settings));
  if (ofThorough - ofBudget > 0.02) blunter += 1;
  console.log(
    [
      `${index} ${one.preset} ${one.trainer}`,
      `says ${percent(a.paid.gain.value)} (${percent(a.paid.gain.low)} to ${percent(a.paid.gain.high)})`,
      `thorough ${percent(b.paid.gain.value)} (${percent(b.paid.gain.low)} to ${percent(b.paid.gain.high)})`,
      `anew ${percent(ofBudget)} and ${percent(ofThorough)}`,
      isSame ? 'same settings' : `${a.sweep.recommended.label} | ${b.sweep.recommended.label}`,
      `${within.seconds.toFixed(0)} s and ${thorough.seconds.toFixed(0)} s`,
    ].join('; '),
  );
}
console.log(`${blunter} of ${chosen.length} save over two points less than thorough in the same new runs`);
if (blunter > 0) process.exitCode = 1;
