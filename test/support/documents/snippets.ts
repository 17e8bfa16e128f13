/**
 * Snippets of the documentation: found in Markdown, and run with what they claim compared to what happens.
 *
 * - `expression; // → value`, or `const name = expression; // → value`: the value, all of it; with `…` in the value,
 *   fields and items that are not shown may exist.
 * - `console.log(…); // prints text`: a snippet that announces a line so must announce every line that it prints.
 * - `expression; // throws code`: a `PolicyError` with that code.
 * - A fence `ts continued` goes on from the snippet before it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect } from 'vitest';
import { pageFiles } from '../../../scripts/site/pages.ts';
import { root } from '../command-line/process.ts';

/** A fenced block. */
export interface Snippet {
  readonly file: string;
  /** Line of the first line of code, from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
}

/** The blocks of a Markdown text, each `continued` one joined with those before it. */
export function extractSnippets(file: string, markdown: string): Snippet[] {
  const snippets: Snippet[] = [];
  const lines = markdown.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const fence = /^```(\w+)( continued)?\s*$/.exec(lines[index]!);
    if (fence === null) continue;
    const from = index + 1;
    while (index + 1 < lines.length && lines[index + 1] !== '```') index += 1;
    const code = lines.slice(from, index + 1).join('\n');
    const before = fence[2] === undefined ? undefined : snippets.findLast((one) => one.language === fence[1]);
    index += 1;
    snippets.push({
      file,
      line: from + 1,
      language: fence[1]!,
      code: before === undefined ? code : `${before.code}\n${code}`,
    });
  }
  return snippets;
}

/** Those of the README and of every page. */
export const documentedSnippets = (): Snippet[] =>
  ['README.md', ...pageFiles()].flatMap((file) => extractSnippets(file, readFileSync(join(root, file), 'utf8')));

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

/** Type errors of snippets, each with the place where it stands. */
export function typeErrors(snippets: readonly Snippet[]): string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const names = new Map(snippets.map((snippet, index) => [join(root, `snippet-${index}.ts`), snippet]));
  const host = ts.createCompilerHost(options);
  // Comments have no types: without them, parsing takes half as long.
  host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
  const { fileExists, getSourceFile } = host;
  const asModule = (code: string): string => (code.includes('import ') ? code : `${code}\nexport {};`);
  host.fileExists = (name) => names.has(name) || fileExists(name);
  host.getSourceFile = (name, target, ...rest) => {
    const snippet = names.get(name);
    if (snippet === undefined) return getSourceFile(name, target, ...rest);
    return ts.createSourceFile(name, asModule(snippet.code), target, true);
  };
  const program = ts.createProgram(
    [...names.keys()],
    { ...options, noUnusedLocals: false, noUnusedParameters: false },
    host,
  );
  return [...names].flatMap(([name, snippet]) => {
    const source = program.getSourceFile(name)!;
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map((one) => {
      const { line } = source.getLineAndCharacterOfPosition(one.start ?? 0);
      const text = ts.flattenDiagnosticMessageText(one.messageText, '\n');
      return `${snippet.file}:${snippet.line} (line ${line + 1} of the snippet): ${text}`;
    });
  });
}
