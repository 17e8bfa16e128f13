/** `rollflex advise` as a user meets it: a small dump of each trainer, to the answer. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registry } from 'rollflex';
import { afterAll, describe, expect, test } from 'vitest';
import { AdviseProgress } from '../../../src/cli/advise/progress.ts';
import { type AdviseOptions, advise } from '../../../src/cli/advise/run.ts';
import { adviceLines } from '../../../src/cli/advise/text.ts';
import { jobOfOptions } from '../../../src/cli/job/job.ts';
import { advise as adviseInProgram } from '../../../src/sim/advise/advise.ts';
import { type TrainerId, trainers } from '../../../src/sim/advise/trainers.ts';
import { readTrace } from '../../../src/sim/trace/read.ts';
import { rollflex } from '../../support/command-line/in-process.ts';
import { rollflexOn, root } from '../../support/command-line/process.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-advise-'));
afterAll(() => rmSync(folder, { recursive: true }));
const tokenizer = join(root, 'test/fixtures/import/tokenizer.json');
const words = ['--tokenizer', tokenizer];

/** A long tail: some prompts take ten times as long as the others. */
const lengthOf = (step: number, prompt: number, k: number): number =>
  100 + ((step * 37 + prompt * 53 + k * 29) % 120) + ((prompt + step) % 4 === 0 ? 900 + 150 * k : 0);

type Row = { readonly step: number; readonly prompt: number; readonly k: number; readonly tokens: number };

/** Dumps with 3 steps of 2 prompts with 4 responses, in the fields of each trainer: test/fixtures/import/README.md. */
const dumps: Readonly<Record<string, { name: (step: number) => string; line: (row: Row) => object }>> = {
  verl: {
    name: (step) => `${step}.jsonl`,
    line: ({ step, prompt, k, tokens }) => ({
      input: `user\nproblem ${step * 4 + prompt}\nassistant\n`,
      output: 'seven '.repeat(tokens),
      gts: '7',
      score: k % 2,
      step,
    }),
  },
  slime: {
    name: (step) => `rollout_${step}.jsonl`,
    line: ({ step, prompt, k, tokens }) => ({
      step,
      group_index: step * 4 + prompt,
      index: (step * 4 + prompt) * 4 + k,
      prompt_tokens: 32,
      response_length: tokens,
      status: tokens > 1400 ? 'truncated' : 'completed',
      reward: k % 2,
    }),
  },
  'nemo-rl': {
    name: (step) => `train_data_step${step}.jsonl`,
    line: ({ step, prompt, k, tokens }) => ({
      content: ['text'],
      rewards: [k % 2],
      input_lengths: [tokens + 2],
      token_ids: [[step, prompt, ...Array.from({ length: tokens }, () => 7), 0]],
      token_loss_mask: [[0, 0, ...Array.from({ length: tokens }, () => 1), 0]],
      sample_loss_mask: [1],
      idx: prompt * 4 + k,
    }),
  },
};

const rowsOf = (step: number, prompts = 2): Row[] =>
  Array.from({ length: 4 * prompts }, (_, index) => {
    const [prompt, k] = [Math.floor(index / 4), index % 4];
    return { step, prompt, k, tokens: lengthOf(step, prompt, k) };
  });

for (const [id, { name, line }] of Object.entries(dumps)) {
  mkdirSync(join(folder, id));
  for (const step of [1, 2, 3]) {
    const text = rowsOf(step).map((row) => `${JSON.stringify(line(row))}\n`);
    writeFileSync(join(folder, id, name(step)), text.join(''));
  }
}
mkdirSync(join(folder, 'roll'));
for (const step of [1, 2, 3]) {
  const rows = rowsOf(step);
  const columns = {
    id: rows.map(({ prompt }) => `${prompt}`),
    prompt: rows.map(({ prompt }) => `problem ${step * 4 + prompt}`),
    responses: rows.map(({ tokens }) => 'seven '.repeat(tokens)),
    scores: rows.map(({ k }) => k % 2),
    global_step: rows.map(() => step),
    domain: rows.map(() => 'math_rule'),
  };
  writeFileSync(join(folder, 'roll', `rollout_dump_data.step_${step}.jsonl`), `${JSON.stringify(columns)}\n`);
}

const surer = { coarseSeeds: 1, semifinalSeeds: 1, finalSeeds: 2, confirmationSeeds: 3, fineRounds: 0 };
const asked: AdviseOptions = {
  effort: { coarseSeeds: 1, semifinalSeeds: 1, finalSeeds: 1, confirmationSeeds: 2, fineRounds: 0 },
  engines: 2,
  steps: 2,
  seed: 1,
  workers: 1,
  resampling: 'copula',
  correlation: 0.3,
};

async function answered(paths: readonly string[], options: Partial<AdviseOptions> = {}) {
  const progress = new AdviseProgress(true);
  try {
    const advised = await advise(paths, { ...asked, ...options }, progress);
    const lines = adviceLines(advised);
    expect(lines.length, lines.join('\n')).toBeLessThanOrEqual(advised.answer.returning === undefined ? 20 : 40);
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
    return { ...advised, text: lines.join('\n') };
  } finally {
    progress.stop();
  }
}

describe.each<[TrainerId, Partial<AdviseOptions>, { responses: boolean; cap: number }]>([
  ['verl', { tokenizer }, { responses: false, cap: 16_384 }],
  ['slime', {}, { responses: true, cap: 1461 }],
  ['nemo-rl', {}, { responses: false, cap: 16_384 }],
  ['roll', { tokenizer }, { responses: true, cap: 16_384 }],
])('%s', (id, options, { responses, cap }) => {
  test('a folder of its dumps becomes an answer that its adapter can carry out', async () => {
    const { summary, answer, text } = await answered([join(folder, id)], options);
    expect(text).toMatch(/^Assumed: Qwen2\.5-14B, .* \(RollPacker §6\); say yours: --model, --gpu,\n--gpus\n/);
    expect(text).toMatch(new RegExp(`^read {5}${id} \\(${id}\\): 3 steps, 6 prompts, 24 recorded responses P50`, 'm'));
    expect(text).toMatch(/^waits {4}\d+% of GPU time/m);
    expect(summary).toMatchObject({ readers: [id], steps: 3, prompts: 6, responses: 24 });
    expect(answer.trainer).toMatchObject({ id, adapter: expect.stringContaining('rollflex.adapters.') });
    expect(answer.sweep.simulated).toMatchObject({ promptsPerRound: 2, responsesPerPrompt: 4, engines: 2 });
    expect(answer.sweep.workload.capTokens).toBe(cap);
    for (const { settings } of answer.sweep.tried) {
      expect(settings).toMatchObject({ threshold: 'off', tp: 2, rewards: 'after' });
      if (!responses) expect(settings.responseSpeculation).toBe(1);
    }
    const { engines, rewards, sync, all } = answer.waits;
    expect(engines + rewards + sync).toBeCloseTo(all, 12);
    expect(all).toBeGreaterThan(0);
    expect(all).toBeLessThan(1);
    // What is deferred runs on where nothing is aborted: tokens differ only by which rounds are averaged.
    if (!responses) expect(Math.abs(answer.paid.keptTokenRatio - 1)).toBeLessThan(0.1);
    else expect(answer.paid.keptTokenRatio).toBeLessThan(1);
    expect(answer.own!.gain.value).toBeLessThan(1);
    expect(answer.verdict === 'saves').toBe(/^switch /m.test(text));
    for (const line of answer.paste) expect(text).toContain(`\n${line}`);
  });
});

describe('own', () => {
  const file = join(folder, 'own.csv');
  writeFileSync(
    file,
    `prompt,k,tokens\n${rowsOf(1, 4)
      .map((row) => `${row.prompt},${row.k},${row.tokens}\n`)
      .join('')}`,
  );

  test('the configuration is for registry.create', async () => {
    const { answer, text } = await answered([file], { promptsPerRound: 4, effort: surer, steps: 4 });
    expect([answer.trainer.id, answer.own]).toEqual(['own', undefined]);
    expect(registry.create(answer.sweep.policy, answer.sweep.config as never).id).toBe('rollpacker');
    expect(text).toMatch(/^\{"tailBatching":true, "promptSpeculation"/m);
  });

  test('where nothing would save time, it says so', async () => {
    const even = join(folder, 'even.csv');
    const rows = Array.from({ length: 64 }, (_, index) => `${Math.floor(index / 4)},400\n`);
    writeFileSync(even, `prompt,tokens\n${rows.join('')}`);
    const { answer, text, name, job: found } = await answered([even], { trainer: 'verl', promptsPerRound: 2 });
    expect([answer.verdict, answer.settings, answer.paste]).toEqual(['nothing', null, []]);
    expect(text).toMatch(/^answer {3}nothing that the adapter for verl can carry out would save 1% of the$/m);
    expect(text).not.toMatch(/^paste/m);
    // A program has the same answer.
    const { job, capTokens } = jobOfOptions(found);
    const { effort, steps, seed, resampling, correlation } = asked;
    const search = {
      effort,
      steps,
      seed,
      resampling,
      correlation,
      epochs: 1,
      trainer: 'verl',
      name,
      capTokens,
    } as const;
    expect(adviseInProgram(readTrace(readFileSync(even, 'utf8'), even), job, search)).toEqual(answer);
  });

  test('the command, from standard input; a step takes as long as simulate says', async () => {
    const shape = ['--prompts-per-round', '1', '--responses-per-prompt', '1', '--engines', '1', '--json'];
    const fewer = ['--steps', '1', '--workers', '1', '--trainer', 'verl'];
    const [advised, simulated] = await Promise.all([
      rollflexOn(readFileSync(file, 'utf8'), 'advise', '-', ...shape, ...fewer),
      rollflex('simulate', file, ...shape, '--no-report'),
    ]);
    expect([advised.code, advised.err]).toEqual([0, '']);
    const { dump, stepSeconds } = JSON.parse(advised.out);
    expect(dump).toMatchObject({ name: 'standard input', readers: ['table'], responses: 16 });
    expect(stepSeconds.value).toBe(JSON.parse(simulated.out).comparisons[0].schedulers[0].stepSeconds.value);
  });
});

describe('prompts that come several times', () => {
  /** Three epochs of 12 prompts; a quarter of them is long, always. */
  const epochs = (count: number): string =>
    Array.from({ length: 3 * count }, (_, index) => {
      const [step, prompt] = [Math.floor(index / 4), (index * 5) % 12];
      const tokens = (prompt % 6 === 0 ? 9000 : 300) + ((index * 37) % 90);
      return `${step},q${prompt},${tokens}\n${step},q${prompt},${tokens + 40}\n`;
    }).join('');
  const written = (name: string, text: string): string => {
    writeFileSync(join(folder, name), `step,prompt,tokens\n${text}`);
    return join(folder, name);
  };
  const often = written('often.csv', epochs(12));
  let advised: Awaited<ReturnType<typeof answered>>;

  test('as the dump shows: the lossless tail, its cost, what is assumed, and the lines to paste', async () => {
    advised = await answered([often], { trainer: 'verl', resampling: 'within-prompt' });
    const { answer, text, epochs: found } = advised;
    expect(found).toEqual({ count: 3, from: 'seen' });
    expect(text).toContain('each prompt comes 3 times (12 of 12 prompts came in several steps)');
    const { verdict, rows, paste } = answer.returning!;
    expect(['best', 'option']).toContain(verdict);
    expect(rows.lossless!.keptTokenRatio).toBeCloseTo(1, 9);
    // verl's adapter starts no more responses.
    for (const { settings } of answer.sweep.frontier!.rows) {
      if (settings !== 'baseline') expect(settings).toMatchObject({ responseSpeculation: 1, rewards: 'after' });
    }
    expect(text).toContain('recorded lengths come again, which flatters');
    const copula = { ...answer.sweep, workload: { ...answer.sweep.workload, resampling: 'recorded, then copula' } };
    expect(adviceLines({ ...advised, answer: { ...answer, sweep: copula } }).join('\n')).toMatch(
      /^measured lengths of a prompt correlate by 0\.\d\d in a step, and by 0\.\d\d from step\s+to step$/m,
    );
    for (const line of paste) expect(text).toContain(`\n${line}`);
    expect(paste).toContain('trainer.v1.trainer_mode=sync');
    expect(/^switch .* the lossless tail|^instead .* the lossless tail/m.test(text)).toBe(true);
  });

  test('where it was not asked, a dump in which some return says how to ask', () => {
    const { returning: _, ...answer } = advised.answer;
    const few = { ...advised.summary!, distinct: { prompts: 12, returned: 2 } };
    const said = (count: number, from: 'given' | 'seen') =>
      adviceLines({ ...advised, answer, summary: few, epochs: { count, from } }).join('\n');
    expect(said(1, 'seen')).toMatch(
      /^again {4}2 of 12 prompts came in several steps: if all come N times, --epochs N/m,
    );
    expect(said(1, 'given')).not.toContain('again');
  });
});

describe('advise refuses', () => {
  test.each([
    [['nowhere'], /nowhere: there is no such file or folder/],
    [[join(folder, 'verl')], /1\.jsonl:1\.output: expected --tokenizer tokenizer\.json, or --tokens-per-character N/],
    [[join(folder, 'verl'), join(folder, 'slime')], /: expected the format slime, as in .*, got "verl"/],
    [[join(folder, 'slime'), '--trainer', 'vim'], /Expected one of verl, slime, roll, nemo-rl, openrlhf, trl, own/],
    [[], /missing required argument 'dump'/],
  ])('%j', async (args, message) => {
    const { code, out, err } = await rollflex('advise', ...args, ...(args.length > 1 ? words : []));
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
  });
});

test('every trainer has a page, and lines of at most 80 columns to paste', () => {
  for (const { page, paste, pasteLossless } of trainers) {
    expect(page).toMatch(/^docs\/.*\.md(#[a-z-]+)?$/);
    const lines = [
      ...paste({ promptSpeculation: 1.0625, responseSpeculation: 1.125, promptsPerRound: 512 }),
      ...paste({ promptSpeculation: 1.0625, responseSpeculation: 1, maxStaleness: 16, promptsPerRound: 512 }),
      ...pasteLossless({ windowRounds: 20, responsesPerPrompt: 16 }),
      ...pasteLossless({ windowRounds: 20, responsesPerPrompt: 16, maxStaleness: 16, promptSpeculation: 1.0625 }),
    ];
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
  }
});
