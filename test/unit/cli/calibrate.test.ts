/** `--calibrate FILE` as a user meets it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { calibrated, readMeasuredFile } from '../../../src/cli/job/calibration/rollouts.ts';
import { jobPreset } from '../../../src/sim/models/presets.ts';
import { rollflex } from '../../support/command-line/in-process.ts';
import { ownLengths } from '../../support/documents/own-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-calibrate-'));
afterAll(() => rmSync(folder, { recursive: true }));
const write = (name: string, value: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
};
const { job } = jobPreset('qwen2.5-7b-8k');
const short = { seconds: 14, engines: 2, prompts: [{ promptTokens: 100, responses: [900, 1200] }], trainSeconds: 30 };
const long = { seconds: 81, engines: 2, prompts: [{ responses: [8000, 700] }], trainSeconds: 36, syncSeconds: 3 };
const lengths = write('lengths.jsonl', ownLengths());

describe('simulate --calibrate', () => {
  const options = [
    '--preset',
    'qwen2.5-7b-8k',
    '--no-report',
    '--steps',
    '2',
    '--seeds',
    '1',
    '--prompts-per-round',
    '4',
  ];

  test('says what was fitted, and runs with it', async () => {
    const file = write('measured.json', { rollouts: [short, long] });
    const { code, out, err } = await rollflex('simulate', lengths, ...options, '--calibrate', file);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(`Calibrated by ${file}, starting from Qwen2.5-7B, 8k, 16 × H800\n`);
    expect(out).toMatch(/ {2}decode step {2}5\.\d\d ms of overhead/);
    expect(out).toMatch(/ {2}rollout {6}2\.\d\d s fixed/);
    expect(out).toContain('  training     28.09 s a step, 909.091 µs a token, passes included');
    expect(out).toContain('80.0 s of rewards (of the preset), 3.0 s of weight sync a step');
    expect(out).toContain('  rollout 2    81.0 s measured, 81.0 s simulated, fitted (2 responses, longest 8000)');
    expect(out).toContain('Two rollouts fit two constants exactly, right or wrong: a third one would be a check.');
    expect(out).toContain('tail batching');
  });

  test('--json has the fitted cost model, and a check with its error', async () => {
    const check = { seconds: 40, engines: 2, prompts: [{ responses: [3000, 700] }] };
    const file = write('checked.json', { rollouts: [short, long, check] });
    const run = await rollflex('simulate', lengths, ...options, '--calibrate', file, '--json');
    const { calibration, comparisons } = JSON.parse(run.out);
    expect(calibration.cost.overheadSeconds).toBeCloseTo(0.0051, 3);
    expect(calibration.cost.weightSyncSeconds).toBe(3);
    expect(comparisons[0].settings.weightSyncSeconds).toBe(3);
    expect(calibration.fitted).toContain('trainSecondsPerToken');
    expect(calibration.rollouts[2].rollout).toMatchObject({ use: 'check', error: expect.closeTo(-0.21, 1) });
    expect(calibration.warnings).toEqual([expect.stringContaining('rollout 3 takes 40.0 s measured')]);
  });
});

const fitted = async (file: string) => calibrated(job, file, await readMeasuredFile(file, {}));

describe('the file', () => {
  test('lengths may stand in a trace beside it; of an imported one, a step', async () => {
    write('short.jsonl', '{"promptTokens":100,"responses":[{"tokens":900},{"tokens":1200}]}\n');
    const steps = ['a@1', 'a@21'].map((prompt, index) => ({
      prompt,
      responses: [{ tokens: 8000 - index }, { tokens: 700 }],
    }));
    write('long.jsonl', steps.map((one) => `${JSON.stringify(one)}\n`).join(''));
    const { prompts: _, ...noLengths } = long;
    const { prompts: _of, ...none } = short;
    const rollouts = [
      { ...none, trace: 'short.jsonl' },
      { ...noLengths, trace: join(folder, 'long.jsonl'), step: 1 },
    ];
    const found = await fitted(write('traced.json', { rollouts }));
    const same = await fitted(write('same.json', { rollouts: [short, long] }));
    expect(found.job.cost).toEqual(same.job.cost);
    expect(found.steps[1]).toMatchObject({ prompts: 1, longestTokens: 8000 });
    const missing = write('missing-step.json', { rollouts: [short, { ...noLengths, trace: 'long.jsonl', step: 3 }] });
    await expect(fitted(missing)).rejects.toThrow('.rollouts[1].step: expected a step of long.jsonl: prompts whose id');
  });

  test.each([
    ['{', ':1: expected measured rollouts as JSON, got'],
    [{ rollouts: [short] }, '.rollouts: expected array >= 2'],
    [{ rollouts: [short, { ...long, seconds: -1 }] }, '.rollouts[1].seconds: expected number > 0, got -1'],
    [{ rollouts: [short, { seconds: 3 }] }, '.rollouts[1]: expected either prompts or trace'],
    [{ rollouts: [short, { ...long, trace: 'x.jsonl' }] }, '.rollouts[1]: expected either prompts or trace'],
    [{ rollouts: [short, { ...long, step: 3 }] }, '.rollouts[1].step: expected step together with trace'],
    [{ rollouts: [short, { seconds: 3, trace: 'none.jsonl' }] }, 'none.jsonl'],
    [{ rollouts: [short, { ...long, gpus: 3 }] }, '.rollouts[1].gpus: expected no other keys'],
    [
      { rollouts: [short, { ...long, prompts: [{ responses: [0] }] }] },
      '.rollouts[1].prompts[0].responses[0]: expected',
    ],
    [
      { rollouts: [short, { ...short, seconds: 20 }] },
      ': measured: expected rollouts with longest responses that differ',
    ],
    [
      { rollouts: [{ ...short, seconds: 90 }, long] },
      ': cost.overheadSeconds: expected a fit >= 0: the rest of the cost',
    ],
  ])('%j is refused', async (value, message) => {
    const file = write('wrong.json', value);
    await expect(fitted(file)).rejects.toThrow(message);
    if (message !== 'none.jsonl') await expect(fitted(file)).rejects.toThrow(file);
  });
});
