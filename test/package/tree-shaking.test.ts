/** What the build does so that a bundler leaves out what nothing uses. */
import { readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { decisions, events } from 'rollflex/schemas';
import { expect, test } from 'vitest';
import {
  withLaterFields,
  withNamedMessages,
  withPureConstants,
  withZodNamespace,
} from '../../scripts/build/tree-shaking.ts';

const messages = `
import { make } from 'made-elsewhere';
const shared = { a: make('a').twice() };
export const used: string = make('used', { ...shared, b: make('b') });
export const unused = make('unused', { ...shared, c: [make('c')] }).with('more');
export const list = [1, 2] as const, frozen = make('frozen');
export const later = () => make('later');
const { twice, ...others } = make('settings').shape;
export const one = [twice];
export const rest = { ...others };
`;

const resolveDir = import.meta.dirname;

async function taken(contents: string, name: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${name} } from 'messages';`, resolveDir },
    bundle: true,
    write: false,
    format: 'esm',
    external: ['made-elsewhere'],
    plugins: [
      {
        name: 'messages',
        setup: ({ onResolve, onLoad }) => {
          onResolve({ filter: /^messages$/ }, ({ path }) => ({ path, namespace: 'messages' }));
          onLoad({ filter: /./, namespace: 'messages' }, () => ({ contents, loader: 'ts', resolveDir }));
        },
      },
    ],
  });
  return outputFiles[0]!.text;
}

test('without it, calls whose results nobody uses stay', async () => {
  expect(await taken(messages, 'used')).toContain('unused');
});

test('with it, only what is used stays, and is made once', async () => {
  const text = await taken(withPureConstants(messages), 'used');
  expect(text).toContain('make("used", { ...shared, b: make("b") })');
  expect(text).not.toMatch(/unused|frozen|later/);
  expect(await taken(withPureConstants(messages), 'later')).not.toMatch(/shared|used|settings/);
  expect(await taken(withPureConstants(messages), 'one')).toContain('make("settings").shape');
});

test('nothing else of a file is changed', () => {
  const rest = (text: string): string =>
    text.replaceAll(/^const [{].*|const from.*|[()]|=>|\/\* @__PURE__ \*\/| /gm, '');
  expect(rest(withPureConstants(messages))).toBe(rest(messages));
  expect(withPureConstants(messages)).toContain("export const later = () => make('later');");
  expect(withPureConstants('export const a = 1;\nf();\n')).toBe('export const a = 1;\nf();\n');
});

test('fields and reasons of messages are made when they are read', () => {
  const text =
    "export const a = defineDecision('a', 'notice', 'A.', { b: z.int() }, { c: {} });\nconst d = make({ e: 1 });\n";
  expect(withLaterFields(text)).toBe(
    text.replace('{ b: z.int() }', '() => ({ b: z.int() })').replace('{ c: {} }', '() => ({ c: {} })'),
  );
});

test('a list of all messages names each of them, in every family', () => {
  const folder = new URL('../../src/schemas/', import.meta.url);
  for (const [kind, all] of Object.entries({ events, decisions })) {
    const read = (file: string): string => readFileSync(new URL(`${kind}/${file}`, folder), 'utf8');
    const text = withNamedMessages(read('index.ts'), read);
    expect(text).not.toContain('Object.values');
    const named = [...text.matchAll(/\[((?:\w+\.\w+(?:, )?)+)\]/g)].flatMap(([, list]) => list!.split(', '));
    expect(new Set(named).size).toBe(all.length);
  }
});

test('what is no namespace stays, and what is not exported is not named', () => {
  const read = (): string => 'const a = 1;\nexport const b = 2, c = 3;\nexport function d() {}\n';
  const text =
    "import * as all from './all.ts';\nexport const list = [...Object.values(all), ...Object.values(other)];\n";
  expect(withNamedMessages(text, read)).toBe(text.replace('Object.values(all)', '[all.b, all.c]'));
});

test('of zod, only what is used stays', async () => {
  const text = "import { z } from 'zod';\nexport const used = z.string();\n";
  const size = async (contents: string): Promise<number> => (await taken(contents, 'used')).length;
  const whole = await size(text);
  expect(await size(withZodNamespace(text))).toBeLessThan(0.6 * whole);
  expect(withZodNamespace("import { z } from 'rollflex';\n")).toBe("import { z } from 'rollflex';\n");
});
