/** `rollflex pools` as a user meets it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { rollflex } from '../../support/command-line/in-process.ts';
import { ownLengths } from '../../support/documents/own-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-pools-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);
writeFileSync(path('lengths.jsonl'), ownLengths());
const small = ['--groups', '8', '--rounds', '2', '--seeds', '2'];

describe('pools', () => {
  test('prints a table within 120 columns, what it means, and where the report is', async () => {
    const report = path('report.html');
    const { code, out, err } = await rollflex('pools', path('lengths.jsonl'), ...small, '--report', report);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^lengths: simulated responses mean \d+, longest \d+ tokens\nQwen3-1.7B, .*, R 8, K 8, U 2\n/);
    expect(out).toMatch(/^serial +[\d.]+ +0\.0% /m);
    expect(out).toMatch(/^CGP \+ FGD auto +[\d.]+ +-?[\d.]+% /m);
    expect(out).toMatch(/ takes [\d.]+ s instead of [\d.]+ s/);
    expect(out).toContain(`report: ${report} (`);
    for (const line of out.split('\n').filter((one) => !/^(-|report|CGP.* takes)/.test(one))) {
      expect(line.length, line).toBeLessThanOrEqual(120);
    }
    expect(readFileSync(report, 'utf8')).toContain('Disaggregated pools: lengths, R = 8');
  });

  test('--json is one object and nothing else, the same for the same seed; options reach the simulation', async () => {
    const args = ['pools', '--task', 'lsat-ar', ...small, '--width', '3', '--json', '--no-report'];
    const more = ['--batch', '24', '--engines', '2', '--verifier-seconds', '2', '--train-seconds-per-token', '0.001'];
    const [one, same, other] = await Promise.all([
      rollflex(...args, ...more),
      rollflex(...args, ...more),
      rollflex(...args, '--seed', '2'),
    ]);
    expect([one.code, one.err]).toEqual([0, '']);
    expect(same.out).toBe(one.out);
    expect(other.out).not.toBe(one.out);
    const { pools, report } = JSON.parse(one.out);
    expect([pools.length, report]).toEqual([1, null]);
    expect(pools[0].job).toMatchObject({ groupsPerRound: 8, globalBatchSamples: 24, engines: 2 });
    expect(pools[0].job.verifier.medianSeconds).toBe(2);
    expect(pools[0].job.cost.trainSecondsPerToken).toBe(0.001);
    const ids = pools[0].schedulers.map((row: { scheduler: string }) => row.scheduler);
    expect(ids).toEqual(['serial', 'cgp', 'fgd-3', 'cgp-fgd-3', 'cgp-fgd-auto']);
    expect(pools[0].schedulers[0].runs[0].rounds).toHaveLength(2);
    expect(one.out).not.toContain('"timeline"');
  });

  test('--quiet prints the tables only', async () => {
    const sizes = ['--groups', '4,8', '--rounds', '1'];
    const { out } = await rollflex('pools', '--task', 'olyphys', ...sizes, '--width', 'auto', '--quiet', '--no-report');
    expect(out).not.toMatch(/takes|report:|^- /m);
    // Its columns take two blocks, for each R.
    expect(out.match(/^CGP \+ FGD auto /gm)).toHaveLength(4);
    expect(out.match(/, R \d+,/g)).toEqual([', R 4,', ', R 8,']);
  });
});

describe('wrong use and bad input: exit code 2, nothing on standard output, the reason on standard error', () => {
  test.each<[string, string[], RegExp]>([
    ['an unknown task', ['--task', 'math'], /Expected one of lsat-ar, sci-xw, sci-jl, olyphys/],
    [
      'no number of groups',
      ['--groups', '8,x'],
      /'--groups <n,...>' argument '8,x' is invalid. Expected a whole number/,
    ],
    ['no width', ['--width', '0'], /'--width <groups>' argument '0' is invalid. Expected a whole number from 1 to/],
    ['a batch of part of a group', ['--batch', '12'], /--batch: .* multiple of --responses-per-prompt/],
    ['a trace and a task', [path('lengths.jsonl'), '--task', 'lsat-ar'], /--task: expected traces, or --task/],
    ['no file', [path('missing.jsonl')], /missing\.jsonl: there is no such file/],
    ['too much', ['--groups', '100000', '--rounds', '1000'], /responses of all rounds and seeds: expected at most/],
    ['a report in no folder', ['--report', path('no/report.html')], /no: there is no such file or folder/],
  ])('%s', async (_, args, message) => {
    const { code, out, err } = await rollflex('pools', ...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
  });
});
