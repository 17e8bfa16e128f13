/**
 * The entries `rollflex/<id>`. Each of them passes on what it exports of the one file that has all definitions: files of their
 * own would make the root load many of them, which takes longer.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import ts from 'typescript';

/** `index.ts` of each definition, by its id. */
export const definitionFiles: Readonly<Record<string, string>> = Object.fromEntries(
  ['policies', 'planners', 'recipes'].flatMap((kind) =>
    readdirSync(`src/${kind}`, { withFileTypes: true })
      .filter((one) => one.isDirectory())
      .map(({ name }) => [name, `src/${kind}/${name}/index.ts`]),
  ),
);

/** Values that a file of re-exports exports, by name. */
function exportedBy(file: string): string[] {
  const { statements } = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  return statements.filter(ts.isExportDeclaration).flatMap(({ isTypeOnly, exportClause }) => {
    if (isTypeOnly || exportClause === undefined || !ts.isNamedExports(exportClause)) return [];
    return exportClause.elements.filter((one) => !one.isTypeOnly).map(({ name }) => name.text);
  });
}

/** Writes the entries beside `definitions.js`, or `.cjs`, in the folder of a build. */
export function writeEntries(outDir: string, format: 'esm' | 'cjs'): void {
  mkdirSync(`${outDir}/definitions`, { recursive: true });
  for (const [id, file] of Object.entries(definitionFiles)) {
    const names = exportedBy(file);
    const text =
      format === 'esm'
        ? `export { ${names.join(', ')} } from '../definitions.js';\n`
        : `const all = require('../definitions.cjs');\n${names.map((name) => `exports.${name} = all.${name};\n`).join('')}`;
    writeFileSync(`${outDir}/definitions/${id}.${format === 'esm' ? 'js' : 'cjs'}`, text);
  }
}
