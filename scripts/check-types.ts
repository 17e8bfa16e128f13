/**
 * `tsc -p .`, and the TypeScript of the documentation beside it, in the same program: most of what a snippet takes is to resolve the
 * types of the package, which is done then.
 */
import { join } from 'node:path';
import ts from 'typescript';
import { root } from './site/pages.ts';
import { documentedSnippets, typescriptIn } from './site/snippets.ts';

/** One whose error must be found, or none of the snippets was checked. */
const wrong = {
  file: 'wrong.md',
  line: 1,
  language: 'ts',
  code: `import { create, tailBatching } from 'rollflex';\ncreate(tailBatching, { promptsPerRound: 'two' });`,
};
const snippets = new Map(
  [...typescriptIn(documentedSnippets()), wrong].map((one, index) => [join(root, `snippet-${index}.ts`), one] as const),
);

const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
const { options, fileNames, errors } = ts.parseJsonConfigFileContent(config, ts.sys, root);
const host = ts.createCompilerHost(options);
// Comments have no types: without them, parsing takes half as long.
host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
const { fileExists, getSourceFile } = host;
host.fileExists = (name) => snippets.has(name) || fileExists(name);
host.getSourceFile = (name, target, ...rest) => {
  const snippet = snippets.get(name);
  if (snippet === undefined) return getSourceFile(name, target, ...rest);
  const asModule = snippet.code.includes('import ') ? snippet.code : `${snippet.code}\nexport {};`;
  return ts.createSourceFile(name, asModule, target, true);
};

const program = ts.createProgram([...fileNames, ...snippets.keys()], options, host);
const found = [...errors, ...ts.getPreEmitDiagnostics(program)];
/** What a snippet declares, a reader uses. */
const isUnused = ({ reportsUnnecessary }: ts.Diagnostic): boolean => reportsUnnecessary !== undefined;

const inSnippets: string[] = [];
const elsewhere: ts.Diagnostic[] = [];
for (const one of found) {
  const snippet = snippets.get(one.file?.fileName ?? '');
  if (snippet === undefined) elsewhere.push(one);
  else if (!isUnused(one)) {
    const { line } = one.file!.getLineAndCharacterOfPosition(one.start ?? 0);
    inSnippets.push(
      `${snippet.file}:${snippet.line + line}: ${ts.flattenDiagnosticMessageText(one.messageText, '\n')}`,
    );
  }
}
const planted = inSnippets.filter((one) => one.startsWith(wrong.file));
const rest = inSnippets.filter((one) => !planted.includes(one));
if (planted.length !== 1) rest.push('the types of snippets are not checked: one that is wrong passes');
if (elsewhere.length > 0)
  console.error(
    ts.formatDiagnosticsWithColorAndContext(elsewhere, {
      getCanonicalFileName: (name) => name,
      getCurrentDirectory: () => root,
      getNewLine: () => '\n',
    }),
  );
for (const one of rest) console.error(one);
process.exitCode = elsewhere.length + rest.length > 0 ? 1 : 0;
