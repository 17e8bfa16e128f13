/** A user says model, GPUs and engine; what nobody said stands first in each answer. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type JobOptions, jobOfOptions, usualCapOf } from '../../../src/cli/job/job.ts';
import { basisLine, basisOf } from '../../../src/sim/colocated/basis.ts';
import { rollflex } from '../../support/command-line/in-process.ts';
import { writeOwnFiles } from '../../support/documents/own-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-cluster-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);

const lengths = path('lengths.jsonl');
const row = (prompt: number, most: number): string =>
  JSON.stringify({ responses: [0, 1, 2, 3].map((k) => ({ tokens: Math.min(most, 50 + 97 * prompt + 13 * k) })) });
const rows = (most: number): string => Array.from({ length: 24 }, (_, prompt) => `${row(prompt, most)}\n`).join('');
writeFileSync(lengths, rows(1e6));
writeFileSync(path('piled.jsonl'), rows(2000));
mkdirSync(path('My-Model'));
const config = {
  model_type: 'qwen2',
  hidden_size: 3584,
  intermediate_size: 18_944,
  num_attention_heads: 28,
  num_hidden_layers: 28,
  num_key_value_heads: 4,
  vocab_size: 152_064,
};
writeFileSync(path('My-Model/config.json'), JSON.stringify(config));
writeFileSync(path('named.json'), JSON.stringify({ ...config, _name_or_path: 'org/Named-7B' }));
const quick = ['--steps', '1', '--seeds', '1', '--prompts-per-round', '8', '--responses-per-prompt', '2'];
const unwrapped = (text: string): string => text.replace(/\s+/g, ' ');

const lineOf = (options: JobOptions): string => basisLine(basisOf(jobOfOptions(options).job));

describe('the job of options', () => {
  test('a preset that nobody chose is assumed; one that is chosen is that of a paper', () => {
    expect(lineOf({})).toBe('Assumed: Qwen2.5-14B, 16k, 32 × H800 (RollPacker §6); say yours: --model, --gpu, --gpus');
    expect(lineOf({ preset: 'qwen2.5-7b-8k' })).toBe(
      'Qwen2.5-7B, 8k, 16 × H800. Assumed: training and rewards as in RollPacker §6 (--calibrate)',
    );
  });

  test('what a user says of a cluster is not assumed', () => {
    const said = {
      model: 'Qwen2.5-32B-Instruct',
      gpu: 'H100',
      gpus: 64,
      tp: 2,
      engine: 'vllm',
      precision: 'bf16',
    } as const;
    expect(lineOf({ ...said, cap: 8192 })).toBe(
      'Qwen2.5-32B in bf16, 64 × H100 SXM, TP 2, vLLM. Assumed: training at 30 % of the bf16 peak on the same GPUs ' +
        '(--calibrate), rewards by rules within a second',
    );
    expect(jobOfOptions(said).job).toMatchObject({ engines: 32, promptsPerRound: 128 });
    expect(usualCapOf(said)).toBe(jobOfOptions(said).capTokens);
    expect(lineOf({ gpu: 'h800' })).toContain('Qwen2.5-14B (--model), bf16, as published (--precision), TP 1 (--tp)');
    expect(lineOf({ gpu: 'h800' })).toMatch(/; not measured: H800 SXM \(.*\), contexts beyond 9,216 tokens/);
  });

  test('GPUs and engines make the tensor parallelism', () => {
    const { job } = jobOfOptions({ model: 'Qwen2.5-32B', gpus: 32, engines: 8 });
    expect([job.engines, job.cost.gpus]).toEqual([8, 4]);
    expect(job.assumed!.join()).not.toContain('--tp');
  });

  test('a model has a config.json, or a folder with one; it is called as the config, the file or the folder', () => {
    const nameOf = (model: string) => jobOfOptions({ model }).job.name.split(' in ')[0];
    expect(nameOf(path('My-Model'))).toBe('My-Model');
    expect(nameOf(path('My-Model/config.json'))).toBe('My-Model');
    expect(nameOf(path('named.json'))).toBe('Named-7B');
  });
});

describe('commands', () => {
  const cluster = ['--model', 'Qwen2.5-32B', '--gpu', 'H100', '--gpus', '16', '--cap', '4096'];

  test('simulate: the first line, the first keys of JSON, and the first screen of the report', async () => {
    const report = path('report.html');
    const { code, out, err } = await rollflex('simulate', lengths, ...quick, ...cluster, '--report', report);
    expect([code, err]).toEqual([0, '']);
    expect(unwrapped(out)).toMatch(
      /^Qwen2\.5-32B in bf16, 16 × H100 SXM, TP 2, vLLM\. Assumed: bf16, as published \(--precision\), TP 2 \(--tp\), vLLM/,
    );
    const header = /<header>.*<\/header>/s.exec(readFileSync(report, 'utf8'))![0];
    expect(header).toContain('<p class="basis">Qwen2.5-32B in bf16, 16 × H100 SXM, TP 2, vLLM. Assumed: bf16, as');
    const json = await rollflex('simulate', lengths, ...quick, ...cluster, '--json', '--no-report');
    const all = JSON.parse(json.out);
    expect(Object.keys(all).slice(0, 3)).toEqual(['assumed', 'outside', 'comparisons']);
    expect(all.assumed).toContain('vLLM (--engine)');
    expect(all.comparisons[0].basis).toEqual({
      name: 'Qwen2.5-32B in bf16, 16 × H100 SXM, TP 2, vLLM',
      assumed: all.assumed,
      outside: all.outside,
    });
  });

  test('what is measured is not assumed any more', async () => {
    const measured = path('measured.json');
    const rollout = (tokens: number, seconds: number, trainSeconds: number) => ({
      prompts: [{ promptTokens: 10, responses: [tokens, 100] }],
      ...{ seconds, trainSeconds, rewardSeconds: 3 },
    });
    writeFileSync(measured, JSON.stringify({ rollouts: [rollout(500, 20, 30), rollout(3000, 90, 60)] }));
    const options = ['--calibrate', measured, '--json', '--no-report'];
    const { code, out, err } = await rollflex('simulate', lengths, ...quick, ...cluster, ...options);
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out).assumed).toEqual(['bf16, as published (--precision)', 'TP 2 (--tp)', 'vLLM (--engine)']);
  });

  test('lengths that pile up at one value are cut there, and that is said', async () => {
    const { out } = await rollflex('simulate', path('piled.jsonl'), ...quick, '--json', '--no-report');
    const [{ workload }] = JSON.parse(out).comparisons;
    expect(workload.capTokens).toBe(2000);
    expect(workload.caveat).toMatch(
      /^\d+\.\d% of the responses have exactly 2000 tokens, and nothing says which were cut/,
    );
    const given = await rollflex('simulate', path('piled.jsonl'), ...quick, '--cap', '3000', '--json', '--no-report');
    const other = JSON.parse(given.out).comparisons[0].workload;
    expect([other.capTokens, other.caveat]).toEqual([3000, undefined]);
    const imported = await rollflex('import', path('piled.jsonl'), '--output', path('imported.jsonl'));
    expect(imported.out).toMatch(/^capped +\d+\.\d% of the responses have exactly 2000 tokens/m);
    expect(imported.out).toContain('--cap 2000');
  });

  test('what-if: as many engines as the log has', async () => {
    writeOwnFiles(folder);
    const asked = ['what-if', path('job.jsonl'), '--seeds', '1', '--model', 'Qwen2.5-7B'];
    const { code, out, err } = await rollflex(...asked, '--gpus', '4');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^Qwen2\.5-7B in bf16, 4 × H100 SXM, TP 2, vLLM\. Assumed: bf16, as published/);
    const json = await rollflex(...asked, '--json');
    expect(Object.keys(JSON.parse(json.out)).slice(0, 3)).toEqual(['assumed', 'outside', 'file']);
    const odd = await rollflex(...asked, '--gpus', '4', '--tp', '4');
    expect([odd.code, odd.err]).toEqual([
      2,
      expect.stringContaining('--gpus: expected 8, for the 2 engines of the log, got 4'),
    ]);
  });
});
