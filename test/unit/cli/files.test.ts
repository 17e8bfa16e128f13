/** Files as people have them: parquet, archives, whole folders, and what a stopped writer leaves. test/fixtures/files/make.py. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { FileNotes } from '../../../src/cli/files/input/notes.ts';
import { parquetRows } from '../../../src/cli/files/input/parquet.ts';
import { inputFiles } from '../../../src/cli/files/input/paths.ts';
import { collector, type ReadOptions, readInto } from '../../../src/cli/files/input/read.ts';
import { zipOf } from '../../support/basics/zip.ts';
import { root } from '../../support/command-line/process.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollflex-files-'));
afterAll(() => rmSync(folder, { recursive: true }));
const fixture = (name: string): string => join(root, 'test/fixtures/files', name);
const write = (name: string, content: string | Uint8Array): string => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
const progress = { text: '', step: async <T>(work: () => T): Promise<T> => work() };

/** What is read of files: prompts with the lengths of their responses, and what is not read. */
async function read(paths: readonly string[], { skipBroken = false }: ReadOptions = {}) {
  const notes = new FileNotes();
  const files = inputFiles(paths, notes);
  const lines = await collector({ tokensPerCharacter: 1, skipBroken, repeated: 'all' });
  await readInto(lines, files, progress, notes, { skipBroken });
  const prompts = [...lines.prompts()].map(({ prompt, responses }) => [prompt, responses.map(({ tokens }) => tokens)]);
  return { prompts, notes: notes.rows().map((row) => row.join(' ').replaceAll(`${folder}/`, '')), lost: notes.lost };
}
const refusal = async (paths: readonly string[], options = {}): Promise<string> =>
  read(paths, options).then(
    () => expect.unreachable(),
    (error: Error) => error.message.replaceAll(`${folder}/`, ''),
  );

test('keys that a trace does not have are told once, with how often they came', async () => {
  const line = (prompt: string): string =>
    `{"id":1,"promptToken":3,"domain":"math","prompt":"${prompt}","responses":[{"tokens":2}]}\n`;
  const found = await read([write('keys.jsonl', `${line('a')}${line('b')}`)]);
  expect(found.prompts.map(([prompt]) => prompt)).toEqual(['a', 'b']);
  expect(found.notes).toEqual([
    'not read keys that a trace does not have: id (2 times), promptToken (2 times, did you mean "promptTokens"?), domain (2 times, did you mean "task"?)',
  ]);
});

describe('the same rows', async () => {
  const rows = readFileSync(fixture('rows.jsonl'));
  const expected = (await read([fixture('rows.jsonl')])).prompts;
  test.each(['snappy', 'gzip', 'zstd', 'brotli', 'none', 'pages-v2'])('%s.parquet', async (name) => {
    expect(await read([fixture(`${name}.parquet`)])).toEqual({ prompts: expected, notes: [], lost: 0 });
  });

  test('a parquet file is known by its content', async () => {
    expect((await read([write('no-name', readFileSync(fixture('zstd.parquet')))])).prompts).toEqual(expected);
  });

  test.each<[string, Uint8Array]>([
    [
      'deflated.zip',
      zipOf([
        { name: 'a/', content: '', isStored: true },
        { name: 'a/rows.jsonl', content: rows },
      ]),
    ],
    ['stored.zip', zipOf([{ name: 'rows.jsonl', content: rows, isStored: true }])],
    [
      'mac.zip',
      zipOf([
        { name: 'rows.jsonl', content: rows },
        { name: '__MACOSX/._rows.jsonl', content: 'x' },
      ]),
    ],
    ['nul.jsonl', Buffer.concat([rows, Buffer.alloc(4096)])],
    ['with-a-tail.gz', Buffer.concat([gzipSync(rows), Buffer.alloc(512)])],
  ])('%s', async (name, content) => {
    expect((await read([write(name, content)])).prompts).toEqual(expected);
  });

  test('zstd, of several blocks and frames', async () => {
    const { prompts, notes } = await read([fixture('rows-30-times.jsonl.zst')]);
    expect(notes).toEqual([]);
    const lengths = ([id, tokens]: unknown[]) => [id, [...(tokens as number[])].sort((a, b) => a - b)];
    const repeated = expected.map(([id, tokens]) => [id, (tokens as number[]).flatMap((one) => Array(30).fill(one))]);
    expect(prompts.map(lengths)).toEqual(repeated.map(lengths));
  });
});

describe('parquet', () => {
  const rowsOf = async (name: string, isNeeded: (column: string) => boolean = () => true) => {
    const found: unknown[] = [];
    let bytes = 0;
    const onBytes = (count: number): void => void (bytes += count);
    for await (const rows of parquetRows(fixture(name), { isNeeded, onBytes, cheapBytes: 0 }))
      for (const { row } of rows) found.push(row);
    return { found, bytes };
  };

  test('lists of messages, over pages and row groups, are what JSON has', async () => {
    const { found } = await rowsOf('conversational.parquet');
    const lines = readFileSync(fixture('rows.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const chats = lines.map(({ step, prompt, completion, accuracy_reward }) => ({
      step,
      prompt: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: prompt },
      ],
      completion: [{ role: 'assistant', content: completion }],
      accuracy_reward,
    }));
    expect(found).toEqual(chats);
  });

  test('lists of numbers, an empty list and nulls', async () => {
    const { found } = await rowsOf('lists.parquet');
    expect(found[0]).toEqual({ prompt_id: 'p0', lengths: [100, 7, 1], tags: [] });
    expect(found[8]).toEqual({ prompt_id: 'p8', lengths: [108, 7, 24001], tags: null });
  });

  test('only the columns that are needed are read', async () => {
    const all = await rowsOf('none.parquet');
    const { found, bytes } = await rowsOf('none.parquet', (column) => column === 'step');
    expect(found[47]).toEqual({ step: 6 });
    expect(bytes).toBeLessThan(all.bytes / 10);
    expect((await rowsOf('none.parquet', () => false)).found).toEqual(all.found);
  });

  test('every damage of a file is refused, or changes no more than values', async () => {
    const whole = readFileSync(fixture('snappy.parquet'));
    for (const end of [0, 3, 8, 100, whole.length / 2, whole.length - 1]) {
      expect(await refusal([write('cut.parquet', whole.subarray(0, end))])).toMatch(
        /expected (a whole parquet|a trace)/,
      );
    }
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flipped) => {
        const changed = Buffer.from(whole);
        changed[at] = changed[at]! ^ flipped;
        const name = write('flipped.parquet', changed);
        const found = await read([name]).catch((error: { name?: unknown }) => error.name);
        expect(typeof found === 'object' || found === 'PolicyError').toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

describe('what is not read says the way on', () => {
  const rows = '{"prompt":"a","tokens":5}\n';
  test.each<[string, string | Uint8Array, RegExp]>([
    [
      'a.zip',
      zipOf([
        { name: '1.jsonl', content: rows },
        { name: '2.jsonl', content: rows },
      ]),
      /zip archive with one file: unzip it.*got "2 files: 1\.jsonl, 2\.jsonl"/,
    ],
    [
      'b.xlsx',
      zipOf([
        { name: '[Content_Types].xml', content: '' },
        { name: 'xl/workbook.xml', content: '' },
      ]),
      /CSV: .*save the sheet.*got "an Excel workbook"/,
    ],
    [
      'c.ods',
      zipOf([
        { name: 'content.xml', content: '' },
        { name: 'meta.xml', content: '' },
      ]),
      /CSV: .*OpenDocument/,
    ],
    ['d.db', 'SQLite format 3\u0000xx', /sqlite3 -csv -header .*d\.db 'select \* from TABLE' \| rollflex import -/],
    ['e.arrow', readFileSync(fixture('table.feather')), /read_feather\('.*e\.arrow'\)\.to_parquet.*Arrow or Feather/],
    ['f.xz', Uint8Array.of(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0), /xz -dc .*f\.xz \| rollflex import -.*got "a file of xz"/],
    [
      'g.tar',
      Buffer.concat([Buffer.alloc(257, 'x'), Buffer.from('ustar'), Buffer.alloc(250)]),
      /tar -xf .*got "a tar archive"/,
    ],
    ['h.parquet', readFileSync(fixture('lz4.parquet')), /snappy, gzip, zstd, brotli or no compression.*LZ4_RAW/],
    [
      'i.gz',
      gzipSync(readFileSync(fixture('none.parquet'))),
      /text in it: unpack it first, got "a parquet file in a gzip file"/,
    ],
    ['j.log', '[2026-11-03 10:00:01] INFO step 1\n', /JSON lines, a JSON array, or CSV, got "a line of a log/],
  ])('%s', async (name, content, message) => {
    expect(await refusal([write(name, content)])).toMatch(message);
  });
});

describe('folders as they are', () => {
  const row = (prompt: string, tokens: number): string => `${JSON.stringify({ prompt, tokens })}\n`;
  const prompts = async (path: string) => (await read([join(folder, path)])).prompts.map(([id]) => id);

  write('run/3/one.jsonl', row('a', 1) + row('a', 2));
  write('run/4/one.jsonl', row('a', 3));
  write('run/5/deep/er/two.jsonl.gz', gzipSync(row('b', 4)));
  for (const name of ['config.json', 'README.md', '.DS_Store', 'aggregated_results.jsonl', 'train.log', 'a.yaml'])
    write(`run/${name}`, '{"x":1}\n');
  write('run/checkpoint-10/state.jsonl', 'broken');
  write('run/4/empty.jsonl', '');
  write('run/4/scores.csv', 'x\n');
  write('run/eval/one.jsonl', row('e', 9));

  test('nested folders; what is beside the dumps is passed over, and counted', async () => {
    const { prompts: found, notes } = await read([join(folder, 'run')]);
    expect(found).toEqual([
      ['a@3', [1, 2]],
      ['a@4', [3]],
      ['b@5', [4]],
    ]);
    expect(notes.sort()).toEqual([
      'not read 1 empty file: 4/empty.jsonl',
      'not read 1 file of another kind: 4/scores.csv',
      'not read 1 file of evaluations: eval/one.jsonl',
      expect.stringMatching(/^not read 7 files that are no dumps by their names: /),
    ]);
  });

  test.each([
    ['run/*/*.jsonl', ['a@3', 'a@4']],
    ['r*n/5/**/*.jsonl.gz', ['b']],
    ['run/**/t*', ['b']],
    ['run/[34]*', undefined],
    ['run/4*', ['a']],
    ['*/4/one.jsonl', ['a']],
    ['run/4/*.csv', undefined],
    ['run/a*.jsonl', undefined],
  ])('%s', async (pattern, expected) => {
    if (expected === undefined) expect(await refusal([join(folder, pattern)])).toMatch(/expected/);
    else expect(await prompts(pattern)).toEqual(expected);
  });

  test('a date is no step; neither is a number where the rows have steps', async () => {
    write('dated/20261103.jsonl', row('a', 1));
    write('dated/20261104.jsonl', row('a', 2));
    expect((await read([join(folder, 'dated')])).prompts).toEqual([['a', [1, 2]]]);
    write('own/7/1.jsonl.csv', 'prompt,tokens,step\na,1,3\n');
    write('own/8/2.csv', 'prompt,tokens,step\na,1,4\n');
    expect(await prompts('own')).toEqual(['a@3', 'a@4']);
  });

  test('a folder without dumps names what it has', async () => {
    write('other/notes.txt', 'x');
    expect(await refusal([join(folder, 'other')])).toMatch(
      /other: expected a folder with dumps: .*, got "1 other file \(notes\.txt\)/,
    );
  });
});

describe('damaged files', () => {
  const row = (index: number): string =>
    JSON.stringify({ prompt: `p${index % 3}`, tokens: index + 1, note: 'a "quoted" } { ö', more: { prompt: 'x' } });
  const lines = Array.from({ length: 12 }, (_, index) => `${row(index)}\n`);
  const lengths = async (path: string, options = {}) => {
    const { prompts, lost, notes } = await read([path], options);
    return { tokens: prompts.flatMap(([, tokens]) => tokens as number[]).sort((a, b) => a - b), lost, notes };
  };
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

  test('a file that ends anywhere has its whole lines, plain or in a JSON array', async () => {
    const bytes = Buffer.from(lines.join(''));
    const array = Buffer.from(`[${lines.map((line) => line.trim()).join(',')}]`);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: lines[0]!.length + 9, max: bytes.length }), async (end) => {
        let [count, isWhole, at] = [0, false, 0];
        for (const line of lines) {
          at += Buffer.byteLength(line);
          if (at - 1 <= end) count += 1;
          isWhole ||= at === end || at - 1 === end;
        }
        const cut = await lengths(write('cut.jsonl', bytes.subarray(0, end)));
        expect(cut).toMatchObject({ tokens: upTo(count), lost: isWhole ? 0 : 1 });
        if (!isWhole)
          expect(cut.notes[0]).toMatch(/^damaged cut\.jsonl:\d+: the file ends in the middle of a line; not whole/);
        const inArray = await lengths(write('cut.json', array.subarray(0, end)));
        expect(inArray.tokens.length).toBeGreaterThanOrEqual(count - 1);
        expect(inArray.tokens).toEqual(upTo(inArray.tokens.length));
      }),
      { numRuns: 40 },
    );
  });

  test('glued lines are two; NUL bytes are dropped wherever a line begins or ends', async () => {
    const glued = lines.join('').replace('}\n{', '}{').replace('}\n{', '} {');
    expect(await lengths(write('glued.jsonl', glued))).toMatchObject({ tokens: upTo(12), lost: 0 });
    const nul = `${lines.slice(0, 5).join('')}\0\0\0${lines.slice(5).join('')}\0\0`;
    const { tokens, notes } = await lengths(write('nul.jsonl', nul));
    expect([tokens, notes]).toEqual([
      upTo(12),
      [expect.stringMatching(/^damaged nul\.jsonl:6: NUL bytes.* \(2 times\)$/)],
    ]);
  });

  test('a line that was cut in the middle of the file is refused, and left out by --skip-broken', async () => {
    const cut = `${lines.slice(0, 4).join('')}${lines[4]!.slice(0, 30)}${lines.slice(5).join('')}`;
    const path = write('resumed.jsonl', cut);
    expect(await refusal([path])).toMatch(
      /resumed\.jsonl:5: expected a whole line \(--skip-broken .*\), got "the beginning of a line, and/,
    );
    const without = upTo(12).filter((one) => one !== 5);
    expect(await lengths(path, { skipBroken: true })).toMatchObject({ tokens: without, lost: 1 });
    const ended = write('ended.jsonl', cut.replace(lines[5]!, `\n${lines[5]!}`));
    expect(await refusal([ended])).toMatch(
      /ended\.jsonl:5: expected a whole line .*, got "a line that ends in the middle"/,
    );
    expect(await lengths(ended, { skipBroken: true })).toMatchObject({ tokens: without, lost: 1 });
  });

  test.each([
    ['gzip', gzipSync(lines.join('').repeat(9), { level: 1 }), 'cut.gz'],
    ['zip', zipOf([{ name: 'a.jsonl', content: lines.join('').repeat(9) }]), 'cut.zip'],
    ['zstd', readFileSync(fixture('rows-30-times.jsonl.zst')), 'cut.zst'],
  ])('cut %s has what came before', async (_, packed, name) => {
    const { tokens, notes } = await lengths(write(name, packed.subarray(0, packed.length * 0.6)));
    expect(tokens.length).toBeGreaterThan(3);
    expect(notes).toContain(`damaged ${name}: the compressed file ends early`);
  });

  test('CSV that ends within a row', async () => {
    const { tokens, notes } = await lengths(write('cut.csv', 'prompt,tokens,task\na,1,x\na,2,x\na,3'));
    expect([tokens, notes]).toEqual([
      [1, 2],
      [expect.stringMatching(/cut\.csv:4: the file ends in the middle of a line/)],
    ]);
  });

  test('a file with nothing whole is refused, with the word for it', async () => {
    expect(await refusal([write('only.jsonl', lines[0]!.slice(0, 20))])).toMatch(
      /only\.jsonl:1: expected at least one whole line, got "the file ends in the middle of a line"/,
    );
    expect(await refusal([write('zeros.jsonl', Buffer.alloc(5000))])).toMatch(/zeros\.jsonl:1: .*NUL bytes/);
  });
});

test('what was made to fill a memory is refused at once, in little memory', () => {
  const million = 2 ** 20;
  let seed = 1;
  const some = Uint32Array.from({ length: million / 4 }, () => {
    seed = Math.imul(seed, 48271) >>> 0;
    return seed;
  });
  const random = Buffer.concat(Array.from({ length: 20 }, () => Buffer.from(some.buffer)));
  const printable = Buffer.from(random.map((byte) => 33 + (byte % 90)));
  const bombs: Record<string, string> = {
    random: write('bombs/random.bin', random),
    line: write('bombs/line.txt', printable),
    object: write('bombs/object.jsonl', Buffer.concat([Buffer.from('{'), printable])),
    lists: write('bombs/lists.json', Buffer.alloc(20 * million, '[')),
    objects: write('bombs/objects.jsonl', `${'{"a":'.repeat(4 * million)}1${'}'.repeat(4 * million)}\n`),
    small: write('bombs/small.jsonl', `${'{"a":'.repeat(30_000)}1${'}'.repeat(30_000)}\n`),
    gzip: write(
      'bombs/a.gz',
      Buffer.concat(Array.from({ length: 30 }, () => gzipSync(Buffer.alloc(4 * million, 'a')))),
    ),
    zip: write('bombs/a.zip', zipOf([{ name: 'a.jsonl', content: Buffer.alloc(80 * million, 'a') }])),
    zstd: fixture('bomb.jsonl.zst'),
    rows: fixture('bomb-rows.parquet'),
    page: fixture('bomb-page.parquet'),
  };
  const program = `
    import { existsSync, readFileSync } from 'node:fs';
    import { runImport } from './src/cli/import/run.ts';
    // What getrusage says begins with the memory of the process that has started this one.
    const status = '/proc/self/status';
    const peak = () => existsSync(status) ? Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync(status, 'utf8'))[1]) / 1024 : 0;
    const said = {};
    for (const [name, file] of Object.entries(JSON.parse(process.argv[2]))) {
      const from = performance.now();
      const options = { output: '/dev/null', quiet: true, tokensPerCharacter: 1 };
      const got = await runImport([file], options).then(() => 'read', (error) => error.message);
      said[name] = [got, performance.now() - from, peak()];
    }
    console.log(JSON.stringify(said));
  `;
  const outfile = join(folder, 'bombs.mjs');
  const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" };
  const stdin = { contents: program, resolveDir: root, loader: 'ts' as const };
  buildSync({ stdin, outfile, banner, bundle: true, platform: 'node', format: 'esm' });
  const out = execFileSync(process.execPath, [outfile, JSON.stringify(bombs)], { encoding: 'utf8' });
  const said = JSON.parse(out) as Record<string, [message: string, ms: number, mb: number]>;
  if (process.env.ROLLFLEX_SHOW)
    console.log(
      Object.entries(said)
        .map(([n, [, ms, mb]]) => `${n} ${ms | 0} ms ${mb | 0} MB`)
        .join('\n'),
    );
  for (const [name, [message, ms, mb]] of Object.entries(said)) {
    expect([name, message]).toEqual([name, expect.stringContaining('expected')]);
    // A machine that is ten times slower than the one that refuses each within 2 s.
    expect([name, ms < 20_000, mb < 256]).toEqual([name, true, true]);
  }
});
