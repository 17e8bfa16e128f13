/**
 * For the build: lets a bundler leave out what nothing uses.
 *
 * - What modules make when they are loaded is marked as pure: schemas, messages, definitions. No bundler can know that a call
 *   of zod's, or a spread in its arguments, does nothing else. So all policies can be in one file, which loads faster than
 *   many, and who takes one of them does not pay for the others.
 * - Schemas of messages are made when they are first read, those of their fields too: a program loads all messages, and uses few.
 * - Lists of all messages name each of them: a namespace that is used as an object keeps all that is in it.
 * - zod is imported as a namespace: from the object `z`, esbuild cannot leave anything out, its 50 languages included.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';
import ts from 'typescript';

const parsed = (text: string): ts.SourceFile => ts.createSourceFile('messages.ts', text, ts.ScriptTarget.Latest);
const declarations = (file: ts.SourceFile, isWanted: (one: ts.VariableStatement) => boolean) =>
  file.statements
    .filter(ts.isVariableStatement)
    .filter(isWanted)
    .flatMap((one) => one.declarationList.declarations);

/** Whether a bundler must take it that evaluating it does something: it calls, or reads what may be a getter. */
const mayAct = (node: ts.Node): boolean =>
  !ts.isFunctionLike(node) &&
  (ts.isCallExpression(node) ||
    ts.isNewExpression(node) ||
    ts.isPropertyAccessExpression(node) ||
    ts.isElementAccessExpression(node) ||
    ts.isSpreadElement(node) ||
    ts.isSpreadAssignment(node) ||
    (ts.forEachChild(node, (child) => mayAct(child) || undefined) ?? false));

const pure = (text: string): string => `/* @__PURE__ */ (() => (${text}))()`;

/** The names that are taken out of an object, each as a constant of its own: a bundler keeps all of a pattern or none. */
function takenOut(file: ts.SourceFile, pattern: ts.ObjectBindingPattern, from: string): string {
  const names = pattern.elements.map(({ name }) => name.getText(file));
  const object = `from${pattern.pos}`;
  const made = `/* @__PURE__ */ (() => { const ${pattern.getText(file)} = ${from}; return { ${names.join(', ')} }; })()`;
  return [`${object} = ${made}`, ...names.map((name) => `${name} = ${pure(`${object}.${name}`)}`)].join(', ');
}

/** The same file; what its constants are made of is made in pure functions, each called once. */
export function withPureConstants(text: string): string {
  const file = parsed(text);
  const made = declarations(file, () => true).flatMap((one) =>
    one.initializer !== undefined && (mayAct(one.initializer) || ts.isObjectBindingPattern(one.name))
      ? [{ one, by: one.initializer }]
      : [],
  );
  let changed = text;
  const replace = (node: ts.Node, by: string): void => {
    changed = `${changed.slice(0, node.getStart(file))}${by}${changed.slice(node.end)}`;
  };
  for (const { one, by } of made.reverse()) {
    if (ts.isObjectBindingPattern(one.name)) replace(one, takenOut(file, one.name, by.getText(file)));
    else replace(by, pure(by.getText(file)));
  }
  return changed;
}

/** The same file; the fields and the reasons of messages stand in functions, so that their schemas are made when they are read. */
export function withLaterFields(text: string): string {
  const file = parsed(text);
  let later = text;
  const calls = declarations(file, () => true).flatMap(({ initializer: one }) =>
    one !== undefined && ts.isCallExpression(one) && /^define(Event|Decision)$/.test(one.expression.getText(file))
      ? [one]
      : [],
  );
  // The name, (the kind,) the description, the fields, and the reasons of a decision.
  const fieldsOf = ({ expression, arguments: given }: ts.CallExpression): readonly ts.Node[] =>
    expression.getText(file) === 'defineEvent' ? given.slice(2, 3) : given.slice(3, 5);
  for (const one of calls.flatMap((call) => fieldsOf(call).filter(ts.isObjectLiteralExpression)).reverse()) {
    later = `${later.slice(0, one.getStart(file))}() => (${one.getText(file)})${later.slice(one.end)}`;
  }
  return later;
}

/** The same file; `Object.values` of a namespace is a list of what it exports, by name. */
export function withNamedMessages(text: string, read: (file: string) => string): string {
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
      const named = withNamedMessages(text, (file) => read(join(dirname(path), file)));
      return {
        contents: withPureConstants(/[\\/]src[\\/]schemas[\\/]/.test(path) ? withLaterFields(named) : named),
        loader: 'ts',
      };
    });
  },
};
