/** Every command reads the same: files, folders, patterns, standard input, gzip, UTF-16, CSV, dumps of trainers. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { type ReadOptions, readTraces } from '../../../src/cli/files/input/read.ts';
import { rollflex } from '../../support/command-line/in-process.ts';
import { rollflexOn, root } from '../../support/command-line/process.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-inputs-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = (name: string): string => join(folder, name);
const fixture = (name: string): string => join(root, 'test/fixtures/import', name);
const words: ReadOptions = { tokenizer: fixture('tokenizer.json') };
const write = (name: string, content: string | Uint8Array): string => {
  writeFileSync(path(name), content);
  return path(name);
};
const make = (name: string): string => {
  mkdirSync(path(name), { recursive: true });
  return path(name);
};

const own =
  '{"prompt":"a","responses":[{"tokens":5},{"tokens":6}]}\n{"prompt":"ö","promptTokens":9,"responses":[{"tokens":7}]}\n';
const csv = 'prompt,tokens,input_tokens\na,5,\na,6,\nö,7,9\n';

async function prompts(paths: string[], options: ReadOptions = {}) {
  return (await readTraces(paths, options, true)).map(({ trace }) => {
    if (trace.kind !== 'prompts') throw new Error(trace.kind);
    return trace.prompts;
  });
}

describe('the same trace', async () => {
  const plain = write('own.jsonl', own);
  const [expected] = await prompts([plain]);
  const utf16 = (text: string, isBig: boolean, mark = '\uFEFF'): Uint8Array => {
    const bytes = Buffer.from(`${mark}${text}`, 'utf16le');
    return isBig ? bytes.swap16() : bytes;
  };
  const array = `[\n${own.trim().split('\n').join(',\n')}\n]\n`;
  test.each<[string, string | Uint8Array]>([
    ['gz.jsonl.gz', gzipSync(own)],
    ['gz-by-content.jsonl', gzipSync(own)],
    ['twice.jsonl', Buffer.concat([gzipSync(own.split('\n')[0]!), gzipSync(`\n${own.split('\n')[1]}`)])],
    ['mark.jsonl', `\uFEFF${own}`],
    ['crlf.jsonl', own.replaceAll('\n', '\r\n')],
    ['little.jsonl', utf16(own, false)],
    ['big.jsonl', utf16(own, true)],
    ['no-mark.jsonl', utf16(own, false, '')],
    ['big-no-mark.jsonl', utf16(own, true, '')],
    ['zipped-utf16.gz', gzipSync(utf16(own, false))],
    ['array.json', array],
    ['array-in-a-line.json', JSON.stringify(JSON.parse(array))],
    ['array.json.gz', gzipSync(`\uFEFF\n${array}`)],
    ['table.csv', csv],
    ['table.tsv', csv.replaceAll(',', '\t')],
    ['excel.csv', utf16(csv.replaceAll('\n', '\r\n').replaceAll(',', ';'), false)],
  ])('%s', async (name, content) => {
    expect(await prompts([write(name, content)])).toEqual([expected]);
  });

  test('standard input, zipped or not, for every command', async () => {
    const small = ['--prompts-per-round', '2', '--responses-per-prompt', '2', '--no-report', '--json'];
    const simulate = ['--steps', '1', '--seeds', '1', ...small];
    const [named, piped] = await Promise.all([
      rollflex('simulate', plain, ...simulate),
      rollflexOn(own, 'simulate', '-', ...simulate),
    ]);
    expect([named.code, piped.code, piped.err]).toEqual([0, 0, '']);
    const steps = (out: string) => JSON.parse(out).comparisons[0].schedulers[0].stepSeconds.value as number;
    expect(steps(piped.out)).toBe(steps(named.out));
    expect(JSON.parse(piped.out).comparisons[0].workload.name).toBe('standard input');
    const pools = await rollflexOn(csv, 'pools', '-', '--groups', '2', '--rounds', '1', '--seeds', '1', '--no-report');
    expect([pools.code, pools.err]).toEqual([0, '']);
  });

  test('files of traces are one each, also beside each other; a folder and a pattern are one', async () => {
    const two = make('two');
    write('two/1.jsonl', own);
    write('two/2.jsonl', own.replaceAll('"a"', '"b"').replaceAll('"ö"', '"c"'));
    expect((await prompts([path('two/1.jsonl'), path('two/2.jsonl')])).map((one) => one.length)).toEqual([2, 2]);
    expect((await prompts([two])).map((one) => one.length)).toEqual([4]);
    expect((await prompts([path('two/*.jsonl')])).map((one) => one.length)).toEqual([4]);
  });
});

describe('dumps of trainers', () => {
  test.each<[string, ReadOptions, number]>([
    ['verl', words, 4],
    ['verl', { tokensPerCharacter: 0.25, cap: 30 }, 4],
    ['slime', {}, 2],
    ['roll', words, 2],
    ['roll-board', {}, 2],
    ['nemo-rl', {}, 2],
  ])('%s is read as it stands, with %j', async (name, options, count) => {
    const [trace, ...more] = await readTraces([fixture(name)], options, true);
    expect([more, trace!.name]).toEqual([[], name]);
    expect(trace!.trace.kind === 'prompts' && trace!.trace.prompts).toHaveLength(count);
  });

  test('what import writes of one is what the others read of it', async () => {
    const mine = path('mine.jsonl');
    await rollflex('import', fixture('verl'), '--tokenizer', words.tokenizer!, '--cap', '30', '--output', mine);
    expect(await prompts([mine])).toEqual(await prompts([fixture('verl')], { ...words, cap: 30 }));
  });

  test('files of a dump, as a shell writes a pattern out, are one trace', async () => {
    const files = ['verl/9.jsonl', 'verl/10.jsonl'].map(fixture);
    expect(await prompts(files, words)).toEqual(await prompts([fixture('verl')], words));
  });

  test('the evaluations beside a dump are left out', async () => {
    make('nemo');
    copyFileSync(fixture('nemo-rl/train_data_step4.jsonl'), path('nemo/train_data_step4.jsonl'));
    write('nemo/val_data_step4.jsonl', '{"content":["x"],"rewards":[1]}\n');
    expect((await prompts([path('nemo')]))[0]).toHaveLength(2);
  });

  // What slime saves, with stand-ins for its classes, written by Python's own pickle and zipfile.
  const python = `
import pickle, sys, zipfile
samples = [dict(group_index=g, index=4 * g + k, response_length=100 * (g + 1) + k, status="completed" if k else "truncated",
                reward=float(k % 2), tokens=[1] * 400, rollout_id=None) for g in range(2) for k in range(4)]
for step in (3, 12):
    with zipfile.ZipFile(f"{sys.argv[1]}/rollout_{step}.pt", "w") as file:
        file.writestr("rollout/data.pkl", pickle.dumps(dict(rollout_id=step, samples=samples)))
`;
  test('pickles of slime go through Python', async () => {
    const pickles = make('pickles');
    expect(spawnSync('python3', ['-c', python, pickles]).status).toBe(0);
    write('pickles/rollout_eval_3.pt', 'not read');
    const [trace] = await prompts([pickles]);
    expect(trace!.map(({ prompt }) => prompt)).toEqual(['0@3', '1@3', '0@12', '1@12']);
    expect(trace![1]!.responses[0]).toEqual({ tokens: 200, correct: false, capped: true });
    copyFileSync(path('pickles/rollout_3.pt'), path('no-name'));
    expect(await prompts([path('no-name')])).toEqual([trace!.slice(0, 2)]);
    const torn = readFileSync(path('pickles/rollout_3.pt'));
    await expect(prompts([write('torn.pt', torn.subarray(0, torn.length / 2))])).rejects.toThrow(
      /torn\.pt: expected a zip file of torch\.save, got "something else, or a part of it"/,
    );
  });

  afterEach(() => void vi.unstubAllEnvs());

  test('without Python, the command is named', async () => {
    vi.stubEnv('PATH', '/nowhere');
    await expect(prompts([write('some.pt', 'PK\u0003\u0004')])).rejects.toThrow(
      /some\.pt: expected Python, which reads slime's pickles: pip install rollflex, then python3 -m rollflex\.importing .*some\.pt \| rollflex import -, got "no python3 \(there is no such file or folder\)"/,
    );
  });
});

describe('what is wrong is said in a line, with file and line', () => {
  const verl = (step: number, output = 'seven is'): string =>
    `${JSON.stringify({ input: 'q', output, score: 1, step })}\n`;
  test.each<[string, () => string[], ReadOptions, RegExp]>([
    ['a missing file', () => [path('missing.jsonl')], {}, /ENOENT.*missing\.jsonl/],
    [
      'an empty file',
      () => [write('empty.jsonl', '')],
      {},
      /empty\.jsonl: expected a trace with prompts, got "an empty file"$/,
    ],
    ['an empty folder', () => [make('nothing')], {}, /nothing: expected a folder with dumps: .*, got "an empty one"$/],
    ['a pattern that fits nothing', () => [path('x*.jsonl')], {}, /x\*\.jsonl: expected a pattern of files/],
    [
      'torn gzip',
      () => [write('torn.gz', gzipSync(own.repeat(300)).subarray(0, 70))],
      {},
      /torn\.gz:1: expected at least one whole line, got "the file ends in the middle of a line"$/,
    ],
    [
      'torn zstd',
      () => [write('a.zst', Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, 1))],
      {},
      /a\.zst: expected at least one whole line, got "the compressed file ends early"$/,
    ],
    [
      'torn parquet',
      () => [write('a.parquet', 'PAR1\u0000')],
      {},
      /expected a whole parquet file, .*"its beginning only"$/,
    ],
    [
      'a binary file',
      () => [write('a.bin', Uint8Array.of(1, 2, 3, 0, 0, 0, 4))],
      {},
      /a\.bin:1: expected text .*, got "a binary file"$/,
    ],
    [
      'fields of another version',
      () => [write('v.jsonl', '{"group_index":1,"response_length":4,"state":"done"}\n')],
      {},
      /v\.jsonl:1: expected status, which slime writes in the versions that are read, got "an object with group_index, response_length, state"$/,
    ],
    [
      'a field of another type',
      () => [write('t.jsonl', '{"response_length":"four","status":"completed"}\n')],
      {},
      /t\.jsonl:1\.response_length: expected/,
    ],
    [
      'a status that is new',
      () => [write('s.jsonl', '{"response_length":4,"status":"paused"}\n')],
      {},
      /s\.jsonl:1\.status: expected one of pending, .*, got "paused"/,
    ],
    [
      'steps that do not fit the name',
      () => [write('7.jsonl', verl(7) + verl(8))],
      words,
      /7\.jsonl:2: expected step 7, as the name of the file says, got "step 8"$/,
    ],
    [
      'lines without a step beside others',
      () => [write('no-step.jsonl', `${verl(7)}{"input":"q","output":"is"}\n`)],
      words,
      /no-step\.jsonl:2: expected a step, as the lines before have, got "none"$/,
    ],
    [
      'formats that are mixed in a folder',
      () => {
        make('mixed');
        write('mixed/1.jsonl', verl(1));
        for (const name of ['trace_1', 'trace_2']) write(`mixed/${name}.jsonl`, own);
        return [path('mixed')];
      },
      words,
      /mixed\/trace_1\.jsonl:1: expected the format verl, as in .*mixed\/1\.jsonl \(give those that are meant, by their names or a pattern: .*mixed\/1\.jsonl for that of verl, .*mixed\/trace_\*\.jsonl for the 2 of rollflex\), got "rollflex"$/,
    ],
    [
      'text without a way to count',
      () => [fixture('verl')],
      {},
      /9\.jsonl:1\.output: expected --tokenizer tokenizer\.json, or --tokens-per-character N/,
    ],
    ['a folder that is a file', () => [join(path('own.jsonl'), 'x')], {}, /ENOTDIR|ENOENT/],
  ])('%s', async (_, paths, options, message) => {
    const error: Error = await prompts(paths(), options).then(
      () => expect.unreachable(),
      (refused) => refused,
    );
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('\n');
  });
});
