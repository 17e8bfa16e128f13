/** Every snippet of the documentation runs, type-checks, and does what it says. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fastCheck from 'fast-check';
import * as rollflex from 'rollflex';
import * as mockEngine from 'rollflex/mock-engine';
import * as rpc from 'rollflex/rpc';
import * as schemas from 'rollflex/schemas';
import * as sim from 'rollflex/sim';
import * as testing from 'rollflex/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { pageFiles } from '../../scripts/site/pages.ts';
import { commandOf } from '../support/command-line.ts';
import { extractSnippets, runSnippet, typeErrors } from '../support/snippets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const modules = {
  'fast-check': fastCheck,
  rollflex,
  'rollflex/mock-engine': mockEngine,
  'rollflex/rpc': rpc,
  'rollflex/schemas': schemas,
  'rollflex/sim': sim,
  'rollflex/testing': testing,
};

const markdownFiles = (): string[] => ['README.md', ...pageFiles()];

const snippets = markdownFiles().flatMap((file) => extractSnippets(file, readFileSync(join(root, file), 'utf8')));
const typescript = snippets.filter((one) => one.language === 'ts');
const shell = snippets.filter((one) => one.language === 'sh');

describe('TypeScript snippets', () => {
  test('there are some, and every block names a language that is known', () => {
    expect(typescript.length).toBeGreaterThan(5);
    for (const { file, line, language } of snippets) {
      expect(['ts', 'sh', 'text', 'json', 'jsonl', 'python', 'yaml'], `${file}:${line}`).toContain(language);
    }
  });

  test.each(typescript.map((one) => [`${one.file}:${one.line}`, one.code]))('%s', async (_, code) => {
    await runSnippet(code, modules);
  });

  test('they type-check', () => {
    expect(typeErrors(typescript, root)).toEqual([]);
  });
});

describe('command lines', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollflex-docs-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  // What stands for the reader's own files.
  const stage = [
    `import { writeFileSync } from 'node:fs';`,
    `import { logOfOneRound, ownLengths, ownSequences, rewardsOfOneGroup, writeOwnJob } from '${root}/test/support/documented-files.ts';`,
    `writeFileSync('my-lengths.jsonl', ownLengths());`,
    `writeFileSync('my-sequences.jsonl', ownSequences());`,
    `writeFileSync('run.jsonl', logOfOneRound());`,
    `writeFileSync('rewards.json', rewardsOfOneGroup());`,
    `writeOwnJob('.');`,
  ].join('\n');
  const tsx = join(root, 'node_modules', '.bin', 'tsx');
  const staged = spawnSync(tsx, ['--input-type=module', '-e', stage], { cwd: folder, encoding: 'utf8' });

  test('the files that they read can be made', () => {
    expect(`${staged.stderr}`).toBe('');
  });

  const commands = shell.flatMap(({ file, line, code }) =>
    code
      .replaceAll('\\\n', ' ')
      .split('\n')
      .map((one) => one.replace(/\s+#.*$/, '').trim())
      .filter((one) => one !== '' && !one.startsWith('#'))
      .map((command) => [`${file}:${line}`, command] as const),
  );
  const rollflexWith = (parts: readonly string[]) =>
    spawnSync(process.execPath, commandOf(parts), { cwd: folder, encoding: 'utf8' });
  const isOurs = (command: string): boolean => /^(npx )?rollflex /.test(command);
  const ours = commands.filter(([, command]) => isOurs(command));

  test.each(ours)('%s: %s', (_, command) => {
    const [, ...parts] = command.replace(/^npx /, '').split(/\s+/);
    if (parts.at(-1) !== '&') {
      const run = rollflexWith(parts);
      expect(run.status, run.stderr).toBe(0);
      return;
    }
    // It runs on beside the reader's own program: here its options are looked up instead.
    const help = rollflexWith([parts[0]!, '--help']);
    expect(help.status, help.stderr).toBe(0);
    for (const option of parts.filter((one) => one.startsWith('--'))) expect(help.stdout).toContain(` ${option} `);
  });

  // What CI itself runs, or the reader's own tools: it must at least be there.
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
  const ofNpm = ['ci', 'install', 'test', 'start'];
  test.each(commands.filter(([, command]) => !isOurs(command)))('%s: %s', (_, command) => {
    for (const part of command.split(' && ')) {
      const [name, ...parts] = part.split(/\s+/) as [string, ...string[]];
      if (name === 'npm')
        expect(parts[0] === 'run' ? Object.keys(scripts) : ofNpm).toContain(parts.filter((one) => one !== 'run')[0]);
      else if (name === 'npx') expect(existsSync(join(root, parts[1]!)), part).toBe(parts[0] === 'tsx');
      else if (name === 'python' && parts[0]!.includes('/')) expect(existsSync(join(root, parts[0]!)), part).toBe(true);
      else expect(['git', 'cd', 'pip', 'uv', 'python']).toContain(name);
    }
  });
});

describe('data', () => {
  /** What the blocks of a page are read by; those of others must be JSON. */
  const readers: Record<string, (line: string) => unknown> = {
    'docs/traces.md': (line) => sim.readTraceLine(line, 'docs/traces.md'),
    'docs/vlm.md': (line) => sim.vlmTraceLineSchema.parse(JSON.parse(line)),
  };
  const blocks = snippets.filter((one) => one.language.startsWith('json'));

  test('there are some', () => expect(blocks.length).toBeGreaterThan(1));

  test.each(blocks.map((one) => [`${one.file}:${one.line}`, one] as const))('%s', (_, { file, language, code }) => {
    for (const text of language === 'jsonl' ? code.split('\n') : [code]) (readers[file] ?? JSON.parse)(text);
  });
});

test('programs in Python are run by the tests of the Python package', () => {
  const folder = join(root, 'python', 'tests');
  const names = (readdirSync(folder, { recursive: true, encoding: 'utf8' }) as string[]).filter((one) =>
    one.endsWith('.py'),
  );
  const tests = names.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
  for (const { file, language } of snippets) {
    if (language !== 'python' && language !== 'yaml') continue;
    // By its path, or by its name as the pages of adapters are.
    const name = file.split('/').at(-1)!.replace('.md', '');
    expect(tests.includes(file) || tests.includes(`"${name}"`) || tests.includes(`"${name}.md"`), file).toBe(true);
  }
});

describe('the extractor', () => {
  const run = (code: string) => runSnippet(code, modules);

  test('finds blocks with their lines, and joins those that continue', () => {
    const found = extractSnippets('x.md', 'a\n```ts\none;\n```\nb\n```ts continued\ntwo;\n```\n```sh\nthree\n```\n');
    expect(found).toEqual([
      { file: 'x.md', line: 3, language: 'ts', code: 'one;' },
      { file: 'x.md', line: 7, language: 'ts', code: 'one;\ntwo;' },
      { file: 'x.md', line: 10, language: 'sh', code: 'three' },
    ]);
  });

  test('passes claims that hold', async () => {
    await run('const a = [1, { b: 2, c: 3 }]; // → [1, { b: 2, … }]\na.length; // → 2\nconsole.log("x"); // prints x');
    await run(
      `import { createPolicy } from 'rollflex';\ncreatePolicy('tail-batching', { } as never); // throws invalid_config`,
    );
  });

  test.each([
    ['a value that is not the one shown', 'const a = 1 + 1; // → 3'],
    ['a field that is not shown', 'const a = { b: 1, c: 2 }; // → { b: 1 }'],
    ['an item that is not shown', '[1, 2]; // → [1]'],
    ['other output', 'console.log("x"); // prints y'],
    ['output that is not announced beside one that is', 'console.log("x"); // prints x\nconsole.log("y");'],
    ['an error that does not come', '(() => 1)(); // throws invalid_config'],
    [
      'another error',
      `import { PolicyError } from 'rollflex';\n(() => { throw new PolicyError('closed', { expected: '', got: '' }); })(); // throws internal`,
    ],
    ['an import that does not exist', `import { x } from 'rollflex/nothing';\nx();`],
    ['a claim behind no statement', 'const a = [\n  1, // → 2\n];'],
    ['an error of the snippet itself', 'const a = (undefined as never as { b: number }).b;'],
  ])('refuses %s', async (_, code) => {
    await expect(run(code)).rejects.toThrow();
  });

  test('refuses a snippet with wrong types', () => {
    const wrong = {
      file: 'x.md',
      line: 1,
      language: 'ts',
      code: `import { createTailBatching } from 'rollflex';\ncreateTailBatching({ promptsPerRound: 'two' });`,
    };
    expect(typeErrors([wrong], root).join()).toMatch(/^x.md:1 \(line 2/);
  });
});
