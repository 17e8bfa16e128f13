/**
 * Runs snippets of the documentation, with what they claim compared to what happens.
 *
 * - `expression; // → value`, or `const name = expression; // → value`: the value, all of it; with `…` in the value,
 *   fields and items that are not shown may exist.
 * - `console.log(…); // prints text`: a snippet that announces a line so must announce every line that it prints.
 * - `expression; // throws code`: a `PolicyError` with that code.
 */
import ts from 'typescript';
import { expect } from 'vitest';

const claim = /^\/\/ (→|throws) ?(.*)$/;

/** The snippet with its claims turned into checks, as JavaScript for {@link runSnippet}. */
function instrument(code: string): string {
  const source = ts.createSourceFile('snippet.ts', code, ts.ScriptTarget.ES2022, true);
  const edits: { from: number; to: number; text: string }[] = [];
  let claims = 0;
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    if (!ts.isStatement(node) || ts.isBlock(node)) return;
    const comment = ts.getTrailingCommentRanges(code, node.end)?.[0];
    const found = comment === undefined ? null : claim.exec(code.slice(comment.pos, comment.end));
    if (found === null) return;
    const [, kind, value] = found as unknown as [string, string, string];
    const last = ts.isVariableStatement(node) ? node.declarationList.declarations.at(-1)!.name : undefined;
    const subject = ts.isExpressionStatement(node) ? node.expression.getText() : last?.getText();
    if (subject === undefined)
      throw new Error(`nothing to compare with: ${comment && code.slice(comment.pos, comment.end)}`);
    claims += 1;
    if (kind === 'throws') {
      edits.push({
        from: node.getStart(),
        to: node.end,
        text: `__throws(() => ${subject}, ${JSON.stringify(value.trim())});`,
      });
      return;
    }
    const exact = !value.includes('…');
    const expected = value.replace(/,?\s*…/g, '');
    const check = `__shown(${ts.isExpressionStatement(node) ? subject : `(${subject})`}, () => (${expected}), ${exact});`;
    if (ts.isExpressionStatement(node)) edits.push({ from: node.getStart(), to: node.end, text: check });
    else edits.push({ from: node.end, to: node.end, text: `\n${check}` });
  };
  visit(source);
  const written = code.match(/\/\/ (→|throws)/g)?.length ?? 0;
  if (written !== claims) throw new Error(`${written} claims, but only ${claims} stand behind a statement`);
  let text = code;
  for (const { from, to, text: put } of edits.sort((a, b) => b.from - a.from))
    text = text.slice(0, from) + put + text.slice(to);
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true },
    reportDiagnostics: false,
  });
  return outputText;
}

/** Runs a snippet with these modules; throws when a claim does not hold. */
export async function runSnippet(code: string, modules: Readonly<Record<string, unknown>>): Promise<void> {
  const announced = [...code.matchAll(/\/\/ prints ?(.*)$/gm)].map((match) => match[1]!);
  const printed: string[] = [];
  const print = (...parts: unknown[]): void => {
    const text = parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join(' ');
    printed.push(...text.split('\n'));
  };
  const globals = {
    require: (name: string): unknown => {
      if (name in modules) return modules[name];
      throw new Error(`a snippet imports ${name}, which the package does not have`);
    },
    exports: {},
    console: { log: print },
    __shown: (actual: unknown, expected: () => unknown, exact: boolean): void => {
      if (exact) expect(actual).toEqual(expected());
      else expect(actual).toMatchObject(expected() as object);
    },
    __throws: (run: () => unknown, code: string): void => {
      expect(run).toThrow(expect.objectContaining({ code }));
    },
  };
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
  await AsyncFunction(...Object.keys(globals), instrument(code))(...Object.values(globals));
  if (announced.length > 0) expect(printed).toEqual(announced);
}
