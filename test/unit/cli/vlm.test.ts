/** `rollflex vlm` as a user meets it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { rollflex } from '../../support/command-line/in-process.ts';
import { ownLengths, ownSequences } from '../../support/documents/own-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-vlm-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);
writeFileSync(path('sequences.jsonl'), ownSequences());
writeFileSync(path('lengths.jsonl'), ownLengths());
writeFileSync(path('broken.jsonl'), '{"responseTokens":5}\n{"responseTokens":5,"images":1}\n');
writeFileSync(path('empty.jsonl'), '');
const small = ['--gpus', '8', '--batch', '16', '--steps', '2'];

describe('vlm', () => {
  test('prints two tables within 80 columns, what they mean, and where the report is', async () => {
    const report = path('report.html');
    const { code, out, err } = await rollflex('vlm', path('sequences.jsonl'), ...small, '--report', report);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(
      /^sequences: simulated sequences mean \d+, longest \d+ tokens\nmimo-vl-7b on 8 h800, 16 sequences a step\n/,
    );
    expect(out).toMatch(/^veRL bucketing .* 1\.00x +1\.00x$/m);
    expect(out).toMatch(/^FlexRL .* \d+\.\d\dx +\d+\.\d\dx$/m);
    expect(out).toMatch(/^FlexRL: \d+\.\d\dx as fast as veRL bucketing/m);
    expect(out).toContain(`report: ${report} (`);
    for (const line of out.split('\n').filter((one) => !/^(-|report|FlexRL:)/.test(one))) {
      expect(line.length, line).toBeLessThanOrEqual(80);
    }
    expect(readFileSync(report, 'utf8')).toContain('Vision-language: sequences');
  });

  test('--json is one object and nothing else, the same for the same seed; options reach the simulation', async () => {
    const fewer = [...small, '--batch', '8', '--frames', '32'];
    const args = ['vlm', '--mixture', 'video-heavy', ...fewer, '--json', '--no-report'];
    const [one, same, other] = await Promise.all([
      rollflex(...args, '--degree', '16', '--gpus', '16', '--gpu', 'h200'),
      rollflex(...args, '--degree', '16', '--gpus', '16', '--gpu', 'h200'),
      rollflex(...args, '--seed', '2'),
    ]);
    expect([one.code, one.err]).toEqual([0, '']);
    expect(same.out).toBe(one.out);
    expect(other.out).not.toBe(one.out);
    const { vlm, report } = JSON.parse(one.out);
    expect([vlm.length, report]).toEqual([1, null]);
    expect(vlm[0].job).toMatchObject({ model: 'mimo-vl-7b', gpu: 'h200', gpus: 16, batchSequences: 8 });
    expect(vlm[0].workload.longestTokens).toBeLessThan(32 * 127 + 1300);
    const ids = vlm[0].schedulers.map((row: { scheduler: string }) => row.scheduler);
    expect(ids).toEqual(expect.arrayContaining(['verl-bucketing', 'ulysses-16', 'ulysses-16-shadow', 'flexrl']));
    expect(vlm[0].schedulers[0].steps).toHaveLength(2);
  });

  test('degrees that the GPUs cannot have are left out; a trace of responses is text', async () => {
    const run = await rollflex(
      'vlm',
      path('lengths.jsonl'),
      '--gpus',
      '4',
      '--batch',
      '8',
      '--steps',
      '1',
      '--json',
      '--no-report',
    );
    expect(run.err).toBe('');
    const [{ schedulers, workload }] = JSON.parse(run.out).vlm;
    expect(workload.visualShare).toBe(0);
    expect(schedulers.map((row: { scheduler: string }) => row.scheduler)).not.toContain('ulysses-8-shadow');
  });

  test('--quiet prints the tables only', async () => {
    const { out } = await rollflex('vlm', '--mixture', 'text', ...small, '--quiet', '--no-report');
    expect(out).not.toMatch(/as fast as|report:|^- /m);
    expect(out.match(/^FlexRL /gm)).toHaveLength(2);
  });
});

describe('wrong use and bad input: exit code 2, nothing on standard output, the reason on standard error', () => {
  test.each<[string, string[], RegExp]>([
    ['an unknown mixture', ['--mixture', 'geo3k'], /Expected one of image-heavy, video-heavy, only-video, text/],
    [
      'no frames',
      ['--frames', '0'],
      /'--frames <n>' argument '0' is invalid. Expected a whole number from 1 to 100000/,
    ],
    [
      'GPUs that engines cannot share',
      ['--gpus', '6'],
      /--gpus: expected a multiple of 4, .* got 6 \(invalid_config\)/,
    ],
    ['a degree that does not divide', ['--degree', '3'], /--degree: expected a power of two that divides 64 GPUs/],
    [
      'a file and a mixture',
      [path('sequences.jsonl'), '--mixture', 'text'],
      /--mixture: expected a file, or --mixture/,
    ],
    [
      'a broken line',
      [path('broken.jsonl')],
      /broken\.jsonl:2\.visualTokens: expected how many tokens the images have/,
    ],
    ['an empty file', [path('empty.jsonl')], /empty\.jsonl: expected at least one sequence/],
    ['no file', [path('missing.jsonl')], /missing\.jsonl: there is no such file/],
    ['too much', ['--batch', '100000', '--steps', '1000'], /sequences of all steps: expected at most 5000000/],
    ['a report in no folder', ['--report', path('no/report.html')], /no: there is no such file or folder/],
  ])('%s', async (_, args, message) => {
    const { code, out, err } = await rollflex('vlm', ...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
  });
});
