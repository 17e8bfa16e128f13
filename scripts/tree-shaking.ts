/**
 * For the build: lets a bundler leave out what nothing uses.
 *
 * - What the files of `src/schemas` make is marked as pure, because no bundler can know that a call of zod's, or a spread
 *   in its arguments, does nothing else.
 * - Lists of all words name each of them: a namespace that is used as an object keeps all that is in it.
 * - zod is imported as a namespace: from the object `z`, esbuild cannot leave anything out, its 50 languages included.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';
import ts from 'typescript';

const parsed = (text: string): ts.SourceFile => ts.createSourceFile('words.ts', text, ts.ScriptTarget.Latest);
const declarations = (file: ts.SourceFile, isWanted: (one: ts.VariableStatement) => boolean) =>
  file.statements
    .filter(ts.isVariableStatement)
    .filter(isWanted)
    .flatMap((one) => one.declarationList.declarations);

/** The same file; what is made at its top by a call, or with calls inside, is made in a pure function, called once. */
export function withPureWords(text: string): string {
  const file = parsed(text);
  const made = declarations(file, () => true).flatMap(({ initializer: one }) =>
    one !== undefined && (ts.isCallExpression(one) || ts.isObjectLiteralExpression(one)) ? [one] : [],
  );
  let pure = text;
  for (const one of made.reverse()) {
    const [from, to] = [one.getStart(file), one.end];
    pure = `${pure.slice(0, from)}/* @__PURE__ */ (() => (${pure.slice(from, to)}))()${pure.slice(to)}`;
  }
  return pure;
}

/** The same file; `Object.values` of a namespace is a list of what it exports, by name. */
export function withNamedWords(text: string, read: (file: string) => string): string {
  const exported = (file: string): string[] =>
    declarations(
      parsed(read(file)),
      (one) => one.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false,
    ).map(({ name }) => (name as ts.Identifier).text);
  let named = text;
  for (const [, space, file] of text.matchAll(/^import \* as (\w+) from '(\.\/[^']+)';$/gm)) {
    const list = exported(file!).map((name) => `${space}.${name}`);
    named = named.replace(`Object.values(${space})`, () => `[${list.join(', ')}]`);
  }
  return named;
}

/** The same file; zod's functions are looked up in the module, and not in an object of them. */
export const withZodNamespace = (text: string): string =>
  text.replace(/^import \{ z \} from 'zod';$/m, "import * as z from 'zod';");

export const treeShaking: Plugin = {
  name: 'tree-shaking',
  setup: (build) => {
    // In CommonJS a namespace is a copy, made by every file.
    const zod = build.initialOptions.format !== 'cjs' ? withZodNamespace : (text: string) => text;
    const read = (file: string): string => readFileSync(file, 'utf8');
    build.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      const text = zod(read(path));
      if (!/[\\/]src[\\/]schemas[\\/]/.test(path)) return { contents: text, loader: 'ts' };
      const named = withNamedWords(text, (file) => read(join(dirname(path), file)));
      return { contents: withPureWords(named), loader: 'ts' };
    });
  },
};
