/** docs/your-job.md: what `advise` says of three dumps before and after a calibration, side by side. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { advise, calibrateOnSite, clusterJob, readTrace } from '../../src/sim/node.ts';
import { labelOf } from '../../src/sim/sweep/settings/settings.ts';
import { scale } from '../support/basics/runs.ts';
import { root } from '../support/command-line/process.ts';

const page = readFileSync(join(root, 'docs/your-job.md'), 'utf8');
const measured = [
  { running: 200, contextTokens: 800, secondsPerToken: 0.034 },
  { running: 64, contextTokens: 3000, secondsPerToken: 0.027 },
  { running: 8, contextTokens: 9000, secondsPerToken: 0.018 },
];
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

function saidOf(file: string, isCalibrated: boolean): string[] {
  const { job, capTokens } = clusterJob({
    model: 'Qwen2.5-32B',
    gpu: 'H100',
    gpus: 8,
    tensorParallel: 4,
    promptsPerRound: 32,
  });
  const on = isCalibrated ? calibrateOnSite(job, measured).job : job;
  const trace = readTrace(readFileSync(join(root, 'examples/traces', file), 'utf8'), file);
  const { settings, paid, stepSeconds } = advise(trace, on, { capTokens, budget: 300_000 });
  const { value, low, high } = paid.gain;
  const answer = settings === null ? 'leave it' : labelOf(settings);
  return [`${stepSeconds.value.toFixed(0)} s`, answer, `${percent(value)} (${percent(low)} to ${percent(high)})`];
}

const dumps = [
  'castillo-qwen2.5-32b-instruct.jsonl',
  'castillo-qwen2.5-7b-instruct-1m.jsonl',
  'servegen-deepseek-r1.jsonl',
];
// Two searches take most of a minute: `ROLLFLEX_RUNS=2 npm run test:all -- calibrated-advice` makes those of all rows.
test.each(scale > 1 ? dumps : dumps.slice(0, 1))('%s', { timeout: 300_000 }, (file) => {
  const row = [`\`${file}\``, ...saidOf(file, false), ...saidOf(file, true)];
  expect(page.replace(/ +/g, ' ')).toContain(`| ${row.join(' | ')} |`);
});
