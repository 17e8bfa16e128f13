/** `rollflex import` as a user meets it. The dumps were made for the tests: test/fixtures/import/README.md. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { type ImportOptions, runImport } from '../../../src/cli/import/run.ts';
import { rollflex } from '../../support/command-line/in-process.ts';
import { entry, rollflexOn, root } from '../../support/command-line/process.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-import-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);
const fixtures = join(root, 'test/fixtures/import');
const fixture = (name: string): string => join(fixtures, name);
const tokenizer = ['--tokenizer', fixture('tokenizer.json')];
const idsOf = (trace: string): string[] =>
  trace
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).prompt as string);
const verlLine = (step: number): string => `${JSON.stringify({ input: 'q', output: 'seven is', score: 1, step })}\n`;

describe('import', () => {
  test('a folder becomes a trace, whose next command works', async () => {
    const mine = path('mine.jsonl');
    const run = await rollflex('import', fixture('verl'), ...tokenizer, '--cap', '30', '--output', mine);
    expect([run.code, run.err]).toEqual([0, '']);
    expect(run.out).toContain('read     verl: 2 files, 12 lines');
    expect(run.out).toContain('trace    4 prompts over 2 steps, 12 responses (3 each)');
    expect(run.out).toContain('counted in the text by');
    expect(run.out).toContain('capped   8.3% of the responses ran into the limit (from 99 % of the cap on');
    const next = /^ {2}rollflex (simulate .*)$/m.exec(run.out)![1]!;
    expect(next).toBe(`simulate ${mine} --prompts-per-round 2 --responses-per-prompt 3 --cap 30`);
    const simulated = await rollflex(...next.split(' '), '--no-report', '--steps', '2', '--seeds', '1');
    expect([simulated.code, simulated.err]).toEqual([0, '']);
    expect(simulated.out).toContain('mine: 4 prompts, simulated responses P50');
  });

  test('files come in the order of their numbers; a pattern and gzip are read, too', async () => {
    mkdirSync(path('steps'));
    for (const step of [1, 2, 10]) writeFileSync(path(`steps/${step}.jsonl`), verlLine(step));
    writeFileSync(path('steps/11.jsonl.gz'), gzipSync(verlLine(11)));
    writeFileSync(path('steps/notes.txt'), 'none of it');
    const run = await rollflex('import', path('steps'), ...tokenizer, '--quiet');
    expect(idsOf(run.out).map((id) => id.replace(/.*@/, ''))).toEqual(['1', '2', '10', '11']);
    const some = await rollflex('import', path('steps/1*.jsonl'), ...tokenizer, '--quiet');
    expect(idsOf(some.out).map((id) => id.replace(/.*@/, ''))).toEqual(['1', '10']);
    // The fingerprint of a prompt is the same in every step.
    expect(new Set(idsOf(run.out).map((id) => id.replace(/@.*/, ''))).size).toBe(1);
    expect(run.err).toBe('');
  });

  test('standard input; the summary keeps out of the way of the trace', async () => {
    const run = await rollflexOn(readFileSync(fixture('slime/lines.jsonl'), 'utf8'), 'import', '-');
    expect([run.code, idsOf(run.out)]).toEqual([0, ['12@5', '13@5']]);
    expect(run.err).toContain('note     1 response aborted: counted as at least so long (censored)');
    expect(run.err).toContain('rollflex simulate TRACE --prompts-per-round 2 --responses-per-prompt 4');
  });

  test('--json is one object', async () => {
    const output = path('json.jsonl');
    const run = await rollflex('import', fixture('roll'), ...tokenizer, '--output', output, '--json');
    expect(JSON.parse(run.out)).toMatchObject({ readers: ['roll'], prompts: 2, responses: 6, files: 1, output });
  });

  test('an estimate is one in the summary, in the trace, and in what is simulated with it', async () => {
    const output = path('estimated.jsonl');
    const run = await rollflex('import', fixture('verl'), '--tokens-per-character', '0.3', '--output', output);
    expect(run.out).toContain('ESTIMATED from the text, 0.3 tokens a character');
    expect(JSON.parse(readFileSync(output, 'utf8').split('\n')[0]!).estimated).toBe('0.3 tokens a character');
    const options = ['--no-report', '--steps', '2', '--seeds', '1', '--prompts-per-round', '2'];
    const simulated = await rollflex('simulate', output, ...options);
    expect(simulated.out).toContain(
      'Lengths of the trace are estimates (0.3 tokens a character), not counts of tokens.',
    );
  });

  test('memory does not grow with the text: 80 MB of it in a heap of 64 MB', async () => {
    const text = 'so we add the two numbers and get seven '.repeat(200);
    const row = (index: number): string =>
      `${JSON.stringify({ input: `problem ${index % 500}`, output: text, score: 1, step: Math.floor(index / 2000) })}\n`;
    const options = { cwd: root, env: { ...process.env, FORCE_COLOR: '0' } };
    const args = ['--max-old-space-size=64', ...entry, 'import', '-', '--tokens-per-character', '0.25'];
    const output = path('large.jsonl');
    const run = await new Promise<string>((resolve, reject) => {
      const child = execFile(process.execPath, [...args, '--output', output, '--json'], options, (error, out) =>
        error === null ? resolve(out) : reject(error),
      );
      child.stdin!.on('error', reject);
      let index = 0;
      const more = (): void => {
        while (index < 10_000) if (!child.stdin!.write(row(index++))) return void child.stdin!.once('drain', more);
        child.stdin!.end();
      };
      more();
    });
    expect(10_000 * row(0).length).toBeGreaterThan(80e6);
    expect(JSON.parse(run)).toMatchObject({ prompts: 2500, responses: 10_000, steps: 5 });
  });
});

describe('import refuses', () => {
  const pickle = path('rollout_3.pt');
  writeFileSync(pickle, 'PK');
  mkdirSync(path('pickles'));
  writeFileSync(path('pickles/0.pt'), 'PK');
  mkdirSync(path('empty'));
  writeFileSync(path('torn.jsonl.gz'), gzipSync(verlLine(1).repeat(100)).subarray(0, 60));
  writeFileSync(path('broken.jsonl'), `${verlLine(1)}{"input":"q","output":5}\n`);
  writeFileSync(path('other.jsonl'), '{"hello":1}\n');
  writeFileSync(path('no-tokenizer.json'), '{"model":{"type":"none"}}');
  const verl = fixture('verl/9.jsonl');

  const words = fixture('tokenizer.json');
  test.each<[string, string[], ImportOptions, string]>([
    ['a torn pickle', [pickle], {}, `${pickle}: expected a zip file of torch.save`],
    ['a folder of them', [path('pickles')], {}, `${path('pickles/0.pt')}: expected a zip file of torch.save`],
    ['a folder without dumps', [path('empty')], {}, 'expected a folder with dumps: *.jsonl, *.parquet, *.pt,'],
    ['a pattern that fits nothing', [path('steps-*.jsonl')], {}, 'expected a pattern of files, got "none"'],
    ['a file that is not there', [path('missing.jsonl')], {}, 'ENOENT'],
    [
      'torn gzip',
      [path('torn.jsonl.gz')],
      { tokenizer: words },
      'torn.jsonl.gz:1: expected at least one whole line, got "the file ends in the middle of a line"',
    ],
    ['a broken line', [path('broken.jsonl')], { tokenizer: words }, 'broken.jsonl:2.output: expected a string, got 5'],
    ['no tokenizer', [verl], { tokenizer: path('no-tokenizer.json') }, 'expected a tokenizer.json of Hugging Face'],
    ['a tokenizer that is no JSON', [verl], { tokenizer: verl }, 'expected a JSON object'],
    ['both ways to count', [verl], { tokenizer: words, tokensPerCharacter: 1 }, 'not both'],
    ['a cap with an estimate', [verl], { tokensPerCharacter: 1, cap: 9 }, 'estimates cannot tell'],
    ['its own output', [verl], { tokenizer: words, output: verl }, 'expected a file that is not read'],
    ['standard input twice', ['-', '-'], {}, 'expected standard input once'],
    ['no dump', [path('other.jsonl')], {}, 'expected a field with the tokens of a response'],
    ['JSON without a file', [verl], { tokenizer: words, json: true }, '--output FILE with --json'],
  ])('%s', async (_what, paths, options, message) => {
    await expect(runImport(paths, options)).rejects.toThrow(message);
  });

  test('text without a tokenizer, on one line', async () => {
    const { code, out, err } = await rollflex('import', verl);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(
      /^rollflex: .*9\.jsonl:1\.output: expected --tokenizer tokenizer\.json, or .*\(invalid_input\)\n$/,
    );
  });

  test('nothing is written when a line is broken; --skip-broken counts it', async () => {
    const output = path('skipped.jsonl');
    await expect(runImport([path('broken.jsonl')], { tokenizer: words, output })).rejects.toThrow('expected a string');
    expect(existsSync(output)).toBe(false);
    const args = ['import', path('broken.jsonl'), ...tokenizer, '--output', output];
    const run = await rollflex(...args, '--skip-broken');
    expect(run.out).toContain(`broken   1 line skipped, such as ${path('broken.jsonl')}:2.output`);
    expect(readFileSync(output, 'utf8').trim().split('\n')).toHaveLength(1);
  });
});
