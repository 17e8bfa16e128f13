/** `rollflex sweep` as a user meets it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registry } from 'rollflex';
import { afterAll, describe, expect, test } from 'vitest';
import { readTraceFile } from '../../../src/cli/files/traces.ts';
import { readMeasured } from '../../../src/cli/job/calibration/measured.ts';
import { runKey, type SweepInput, sweepProblems } from '../../../src/cli/sweep/problem.ts';
import { refusal } from '../../support/basics/refusal.ts';
import { rollflex } from '../../support/command-line/in-process.ts';
import { entry, root } from '../../support/command-line/process.ts';
import { ownLengths } from '../../support/documents/own-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-sweep-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);
const lengths = path('lengths.jsonl');
writeFileSync(lengths, ownLengths());
const shape = ['--prompts-per-round', '2', '--responses-per-prompt', '2', '--engines', '1'];
const small = ['sweep', lengths, ...shape, '--steps', '3', '--effort', 'fast', '--cap', '4096'];
/** The runs of the first search: what asks for the same search again finds them there. */
const keeping = [...small, '--workers', '1', '--resume', path('printed.jsonl')];
const linesOf = (file: string): string[] => readFileSync(file, 'utf8').trimEnd().split('\n');

// Commands run one after the other in this process: what one of them takes too long for, the next would wait for.
describe('sweep', () => {
  test('prints a table within 80 columns, what it means, and what is not modelled', async () => {
    const { code, out, err } = await rollflex(...keeping);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      /^Assumed: Qwen2\.5-14B, .*; say yours: --model, --gpu, --gpus\n\nlengths: 40 prompts, cap 4096\nQwen2.5-14B, .*: 2 prompts of 2 responses, 1 engine; synchronous [\d.]+ s a step\n/,
    );
    const [table, rest] = out.split(/\n\n(?=[^\n]*\.\n)/) as [string, string];
    for (const row of ['recommended', "papers' fixed", 'oracle']) expect(table).toMatch(new RegExp(`^${row} `, 'm'));
    for (const line of table.split('\n').slice(4)) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(rest).toMatch(/The objective is time a trained prompt, with a kept-token ratio no lower than/);
    expect(rest).toMatch(/^At equal tokens it is [\d.]+ ± [\d.]+x as fast as synchronous\./m);
    expect(rest).toMatch(/8 runs of 40 steps on seeds .*, but on the same 40 prompts: the trace has too few/);
    expect(rest).toMatch(/^Not modelled:\n- /m);
    const quiet = await rollflex(...keeping, '--quiet');
    expect(quiet.out).toBe(`${table}\n\n`);
  });

  test('--json is for registry.create; threads change nothing; a file resumes it after a kill', async () => {
    const file = path('runs.jsonl');
    // Nearly all of the search is there already: threads compile all that they run anew.
    const before = linesOf(path('printed.jsonl')).slice(0, 46);
    writeFileSync(file, `${before.join('\n')}\n`);
    const enough = before.length + 2;
    const child = spawn(process.execPath, [...entry, ...small, '--workers', '1', '--resume', file], {
      cwd: root,
      stdio: 'ignore',
    });
    const over = new Promise((resolve) => child.on('exit', resolve));
    while (linesOf(file).length < enough) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill('SIGKILL');
    await over;
    // As if it had been killed in the middle of a line, too.
    const kept = linesOf(file).slice(0, enough);
    expect(kept.slice(0, before.length)).toEqual(before);
    writeFileSync(file, `${kept.join('\n')}\n{"key":"0123`);
    const one = await rollflex(...keeping, '--json');
    const resumed = await rollflex(...small, '--workers', '2', '--resume', file, '--json');
    expect([one.code, one.err, resumed.err]).toEqual([0, '', '']);
    expect(resumed.out).toBe(one.out);
    // What nobody said of the cluster stands first.
    const { assumed, outside, recommendations, ...others } = JSON.parse(one.out);
    const [{ policy, config, search, overMachines, basis }] = recommendations;
    expect(basis).toMatchObject({ assumed, outside });
    expect(Object.keys(JSON.parse(one.out)).slice(0, 2)).toEqual(['assumed', 'outside']);
    expect(others).toEqual({});
    expect(registry.create(policy, config).id).toBe('rollpacker');
    // Every run once, the header beside them: what was there was not made again.
    expect(linesOf(file).slice(0, enough)).toEqual(kept);
    expect(linesOf(file)).toHaveLength(1 + search.runs + overMachines.runs);
  });

  test('--epochs adds time against kept tokens, and changes nothing else', async () => {
    const before = (await rollflex(...keeping, '--quiet')).out.trimEnd();
    const told = await rollflex(...keeping, '--epochs', '4');
    expect([told.code, told.err]).toEqual([0, '']);
    expect(told.out.startsWith(`${before}\n\ntime against kept tokens: 40 steps, in which 20 prompts`)).toBe(true);
    const frontier = told.out
      .slice(before.length + 2)
      .split('\n\n')
      .slice(0, 2)
      .join('\n');
    expect(frontier).toMatch(/^lossless W \d+ \w+ \w+ +1\.00 +100% +[\d.]+ +·*[●○]/m);
    expect(frontier).toMatch(/^1\.25\/1\.25 \w+ \w+ +0\.\d\d /m);
    for (const line of frontier.split('\n').slice(1)) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(told.out).toMatch(/Responses of a prompt correlate by 0\.\d\d in this trace; .* is assumed/);
    const { recommendations } = JSON.parse((await rollflex(...keeping, '--epochs', '4', '--json')).out);
    const [{ frontier: found, search, ...rest }] = recommendations;
    const [plain] = JSON.parse((await rollflex(...keeping, '--epochs', '1', '--json')).out).recommendations;
    expect({ ...rest, search }).toEqual(plain);
    expect(linesOf(path('printed.jsonl'))).toHaveLength(1 + search.runs + plain.overMachines.runs + found.runs);
  });

  test('a file that is something else is left as it is', async () => {
    const foreign = path('foreign.jsonl');
    writeFileSync(foreign, ownLengths());
    const { code, err } = await rollflex(...small, '--resume', foreign);
    expect(code).toBe(2);
    expect(err).toMatch(/foreign\.jsonl:1: expected a file of rollflex sweep: .*\(invalid_input\)\n$/);
    expect(readFileSync(foreign, 'utf8')).toBe(ownLengths());
    const broken = path('broken.jsonl');
    writeFileSync(broken, '{"format":"rollflex-sweep","version":2}\n{"key":"x","run":{}}\n{}\n');
    expect((await rollflex(...small, '--resume', broken)).err).toMatch(/broken\.jsonl:2: expected a run/);
    expect((await rollflex(...small, '--resume', folder)).err).toMatch(/--resume: expected a file, not a folder/);
  });

  test('pools: tail batching where tokens may go', async () => {
    const pools = ['sweep', '--job', 'pools', '--task', 'lsat-ar', '--prompts-per-round', '6', '--steps', '2'];
    const some = [...pools, '--effort', 'fast', '--workers', '1', '--resume', path('pools.jsonl'), '--min-kept', '0.5'];
    const told = await rollflex(...some);
    const fewer = await rollflex(...some, '--json');
    expect([told.code, told.err]).toEqual([0, '']);
    expect(told.out).toMatch(/^settings: eta_P\/eta_R, F_w$/m);
    const [{ tried, objective }] = JSON.parse(fewer.out).recommendations;
    expect(objective).toMatchObject({ leastKeptTokenRatio: 0.5, given: true });
    expect(
      tried.some((one: { admissible: boolean; keptTokenRatio: number }) => one.admissible && one.keptTokenRatio < 0.99),
    ).toBe(true);
  });

  test('limits are kept to, and said to be those of the answer', async () => {
    const limits = ['--min-kept', '0.97', '--min-top1', '0.9', '--max-lag', '0'];
    const { code, err, out } = await rollflex(...keeping, ...limits, '--json');
    expect([code, err]).toEqual([0, '']);
    const [{ verdict, recommended, objective, tried, search }] = JSON.parse(out).recommendations;
    expect(objective.limits).toEqual({ minKept: 0.97, minTop1: 0.9, maxLag: 0 });
    expect(['tuned', 'published', 'unspeculative', 'baseline']).toContain(verdict);
    expect(recommended.keptTokenRatio.value).toBeGreaterThanOrEqual(0.97 - 1e-6);
    expect(recommended.longestTrainedRatio).toBeGreaterThanOrEqual(0.9 - 1e-6);
    expect(tried.some((one: { admissible: boolean }) => !one.admissible)).toBe(true);
    expect(search).toMatchObject({ confirmationSteps: 40, prompts: { kind: 'same', search: 40, confirmation: 40 } });
  });

  test.each([
    [['--job', 'half', '--min-kept', '0.5'], /Expected one of synchronous, pools/],
    [['--min-kept', '1.5'], /Expected a number from 0\.01 to 1/],
    [['--min-top1', '2'], /Expected a number from 0 to 1/],
    [['--max-lag', '0.5'], /Expected a whole number from 0 to 1000/],
    [['--job', 'pools', '--epochs', '2'], /--epochs: expected --job synchronous with --epochs, got 2/],
    [['--task', 'lsat-ar'], /--task: expected --job pools with --task, got "lsat-ar" \(invalid_input\)/],
    [['nowhere.jsonl'], /nowhere\.jsonl: there is no such file/],
  ])('refuses %s', async (args, message) => {
    const { code, err, out } = await rollflex('sweep', ...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
  });

  const usual = { traces: [], resampling: 'copula', correlation: 0.3 } as const;
  test.each([
    [
      { job: 'pools', preset: 'qwen2.5-7b-8k' },
      { path: '--preset', expected: '--job synchronous with --preset' },
    ],
    [
      { job: 'synchronous', batch: 8 },
      { path: '--batch', expected: '--job pools with --batch' },
    ],
    [
      { job: 'pools', task: 'lsat-ar', traces: [readTraceFile(lengths)] },
      { path: '--task', code: 'invalid_input' },
    ],
    [
      { job: 'pools', batch: 3 },
      { path: 'globalBatchSamples', code: 'invalid_config' },
    ],
    [
      { job: 'synchronous', promptsPerRound: 100_000 },
      { path: 'responses of a round', got: '800000' },
    ],
    [
      { job: 'pools', steps: 100_000 },
      { path: 'responses of all steps', code: 'limit_exceeded' },
    ],
    [
      { job: 'synchronous', session: 's1' },
      { path: '--session', expected: '--from-log' },
    ],
  ] as const)('refuses %o', (input, expected) => {
    expect(refusal(() => sweepProblems({ ...usual, ...input }))).toMatchObject(expected);
  });

  test('the key of a run follows from everything that determines it', async () => {
    const task = { settings: 'baseline', seed: 1 } as const;
    const rollouts = [100, 3000].map((tokens) => ({ prompts: [{ responses: [tokens] }], seconds: 2 + tokens / 50 }));
    writeFileSync(path('measured.json'), JSON.stringify({ rollouts }));
    const trace = readTraceFile(lengths);
    const keys = [
      {},
      { cap: 4000 },
      { steps: 9 },
      { engines: 3 },
      { resampling: 'parametric' },
      { correlation: 0.2 },
      { preset: 'qwen2.5-7b-8k' },
      { calibrate: path('measured.json'), measured: (await readMeasured(path('measured.json'), {}))! },
      { job: 'pools' },
      { traces: [trace, trace] },
    ].map((change) => {
      const input = { job: 'synchronous', ...usual, traces: [trace], ...change } as SweepInput;
      return runKey(sweepProblems(input)[0]!.fingerprint, task);
    });
    // The same trace, named twice, is the same.
    expect(new Set(keys).size).toBe(keys.length - 1);
    expect(runKey('a', { ...task, seed: 2 })).not.toBe(runKey('a', task));
    const other = path('other.jsonl');
    writeFileSync(other, ownLengths().replace('"promptTokens":100', '"promptTokens":101'));
    const changed = sweepProblems({ ...usual, job: 'synchronous', traces: [readTraceFile(other)] })[0]!.fingerprint;
    expect(runKey(changed, task)).not.toBe(keys[0]);
  });
});
