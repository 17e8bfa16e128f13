/** One baseline: the same trace and settings give the same synchronous step, whoever is asked. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { synchronousFields } from '../../../docs/playground/src/settings/synchronous.ts';
import { otherFiles, traceFiles } from '../../../docs/playground/src/settings/traces.ts';
import { Keep } from '../../../docs/playground/src/worker/keep.ts';
import { Library } from '../../../docs/playground/src/worker/library.ts';
import { simulateSynchronous } from '../../../docs/playground/src/worker/synchronous.ts';
import { number } from '../../../docs/playground/src/worker/text.ts';
import { readTraceFile } from '../../../src/cli/files/traces.ts';
import { jobOfOptions } from '../../../src/cli/job/job.ts';
import { packageRoot } from '../../../src/logs/index/package.ts';
import { ablation, compare, type SweepProblem, sweeping, usualRuns } from '../../../src/sim/index.ts';
import { traceWorkload, usualWorkload } from '../../../src/sim/workload/of-trace.ts';
import { some } from '../../support/basics/runs.ts';
import { rollflex } from '../../support/command-line/in-process.ts';

const folder = join(packageRoot(), 'examples', 'traces');
const preset = 'qwen2.5-7b-8k';
const cap = 8192;
const asked = { preset, promptsPerRound: 4, responsesPerPrompt: 2, engines: 8, cap };
const { steps, seeds } = usualRuns;
const leastEffort = { coarseSeeds: 1, semifinalSeeds: 1, finalSeeds: 1, confirmationSeeds: 2, fineRounds: 0 };

interface Comparison {
  readonly schedulers: readonly { readonly scheduler: string; readonly stepSeconds: { readonly value: number } }[];
}

async function onTheCommandLine(file: string, ...more: string[]): Promise<number> {
  const shape = ['--preset', preset, '--prompts-per-round', '4', '--responses-per-prompt', '2', '--engines', '8'];
  const run = await rollflex('simulate', file, ...shape, '--cap', `${cap}`, '--json', '--no-report', ...more);
  expect([run.code, run.err]).toEqual([0, '']);
  const { comparisons } = JSON.parse(run.out) as { comparisons: [Comparison] };
  expect(comparisons[0].schedulers[0]!.scheduler).toBe('baseline');
  return comparisons[0].schedulers[0]!.stepSeconds.value;
}

/** What a search says of a step does not depend on its runs: none is made. */
function inASweep(problem: SweepProblem): number {
  const same = {
    secondsPerPrompt: 1,
    roundVariance: 0,
    tokensPerResponse: 1,
    cappedShare: 0,
    staleShare: 0,
    maxLag: 0,
  };
  const search = sweeping(problem, { effort: leastEffort });
  let next = search.next();
  while (next.done !== true)
    next = search.next(next.value.tasks.map(() => ({ ...same, longFixed: 1, longTrained: 1 })));
  return next.value.stepSeconds!.value;
}

async function inThePlayground(trace: keyof typeof traceFiles): Promise<string> {
  const names = { ...traceFiles, ...otherFiles };
  const library = new Library(async (id) => readFileSync(join(folder, names[id]), 'utf8'));
  await library.prepare([trace, 'sandboxes']);
  const usual = Object.fromEntries(Object.entries(synchronousFields).map(([name, field]) => [name, field.usual]));
  const settings = { ...usual, t: trace, m: preset, P: 4, R: 2, g: 8, TP: '1', cap, n: 3, s: 1 };
  let step = '';
  for (const one of simulateSynchronous(settings as never, library, new Keep())) {
    if (one !== undefined) step = one.shown.rows[0]!.cells.step!;
  }
  return step;
}

test.each(some(Object.entries(traceFiles)))('%s', async (trace, name) => {
  const file = join(folder, name);
  const { job, capTokens } = jobOfOptions(asked);
  const workload = traceWorkload(readTraceFile(file), { ...usualWorkload, capTokens });
  const seedList = Array.from({ length: seeds }, (_, index) => index + 1);
  const options = { job, workload, steps, seeds: seedList, timeline: false };
  // Nothing beside the baseline: that it changes nothing is seen on the command line, which has all of it.
  const alone = { ...options, schedulers: [], oracle: false };
  const expected = compare(alone).schedulers[0]!.stepSeconds.value;
  const [baseline] = ablation(job);
  expect(compare({ ...alone, baseline: baseline! }).schedulers[0]!.stepSeconds.value).toBe(expected);
  expect(await onTheCommandLine(file)).toBe(expected);
  // Beside every variant, on fewer steps.
  const short = compare({ ...alone, steps: 3, seeds: [1] }).schedulers[0]!.stepSeconds.value;
  expect(await onTheCommandLine(file, '--ablation', '--steps', '3', '--seeds', '1')).toBe(short);
  expect(inASweep({ kind: 'synchronous', job, workload, steps: 2 })).toBe(expected);
  expect(await inThePlayground(trace as keyof typeof traceFiles)).toBe(`${number(short, 1)} s`);
});
