/**
 * The declarations of every source file, from one program. Given sources in several folders, the declarations of tsup come
 * from one program for each of those, which takes several times as long; given declarations, they need none.
 */
import { relative, resolve } from 'node:path';
import ts from 'typescript';

const folder = '.cache/types';

/** Writes them, and returns the declarations of the entries by name. */
export function writeDeclarations(
  entries: Readonly<Record<string, string>>,
  compilerOptions: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
  const own = { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: 'src', outDir: folder };
  const { options, errors } = ts.convertCompilerOptionsFromJson(
    { ...config.compilerOptions, ...compilerOptions, ...own },
    '.',
  );
  const { diagnostics } = ts.createProgram(Object.values(entries), options).emit();
  const [first] = [...errors, ...diagnostics];
  if (first !== undefined) throw new Error(ts.flattenDiagnosticMessageText(first.messageText, '\n'));
  return Object.fromEntries(
    Object.entries(entries).map(([name, file]) => [
      name,
      resolve(folder, relative('src', file)).replace(/\.ts$/, '.d.ts'),
    ]),
  );
}
