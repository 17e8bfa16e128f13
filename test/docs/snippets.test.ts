/** Every snippet of the documentation runs, and does what it says. `npm run types` checks its types. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fastCheck from 'fast-check';
import * as rollflex from 'rollflex';
import * as logs from 'rollflex/logs';
import * as mockEngine from 'rollflex/mock-engine';
import * as rpc from 'rollflex/rpc';
import * as schemas from 'rollflex/schemas';
import * as sim from 'rollflex/sim';
import * as testing from 'rollflex/testing';
import { describe, expect, test } from 'vitest';
import { documentedSnippets, extractSnippets, typescriptIn } from '../../scripts/site/snippets.ts';
import { vlmTraceLineSchema } from '../../src/sim/vlm-formulas/workload/trace.ts';
import { root } from '../support/command-line/process.ts';
import { runSnippet } from '../support/documents/snippets.ts';

const modules = {
  'fast-check': fastCheck,
  rollflex,
  'rollflex/mock-engine': mockEngine,
  'rollflex/rpc': rpc,
  'rollflex/schemas': schemas,
  'rollflex/logs': logs,
  'rollflex/sim': sim,
  'rollflex/testing': testing,
  ...(await definitionEntries()),
};

/** `rollflex/<id>` of every definition. */
async function definitionEntries(): Promise<Record<string, object>> {
  const names = rollflex.registry.definitions.map(({ id }) => `rollflex/${id}`);
  const entries = names.map(async (name) => [name, await import(name)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

const snippets = documentedSnippets();
const typescript = typescriptIn(snippets);

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
});

/** Whoever copies a sample copies its casts. */
test('no sample and no example silences the compiler', () => {
  const folder = join(root, 'examples');
  const files = (readdirSync(folder, { recursive: true, encoding: 'utf8' }) as string[]).filter((one) =>
    one.endsWith('.ts'),
  );
  const examples = files.map((file) => ({ file, line: 1, code: readFileSync(join(folder, file), 'utf8') }));
  expect(examples.length).toBeGreaterThan(20);
  const silent = [...typescript, ...examples].filter(({ code }) => /\bas (never|any)\b/.test(code));
  expect(silent.map(({ file, line }) => `${file}:${line}`)).toEqual([]);
});

describe('data', () => {
  /** What the blocks of a page are read by; those of others must be JSON. */
  const readers: Record<string, (line: string) => unknown> = {
    'docs/traces.md': (line) => sim.readTraceLine(line, 'docs/traces.md'),
    'src/recipes/flexrl/README.md': (line) => vlmTraceLineSchema.parse(JSON.parse(line)),
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
      `import { registry } from 'rollflex';\nregistry.create('tail-batching', { } as never); // throws invalid_config`,
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
});
