import { defineConfig, type Options } from 'tsup';
import { buildsOf, entries } from './scripts/build/bundles.ts';
import { writeDeclarations } from './scripts/build/declarations.ts';
import { definitionFiles } from './scripts/build/definition-entries.ts';

const { library, commandLine } = buildsOf({ outDir: 'dist', licences: 'THIRD-PARTY-LICENSES.txt' });
const typed = Object.entries(definitionFiles).map(([id, file]) => [`definitions/${id}`, file]);
const declared = { ...entries, ...Object.fromEntries(typed) };
// Under `Bundler` TypeScript looks for the imports of a file in a mode in which it has none, and names an inferred type by the
// shortest path there is, that of the root entry: every definition would import it, in a circle.
// `npm run types` is what checks: checked again, declarations take twice the time.
const compilerOptions = { module: 'NodeNext', moduleResolution: 'NodeNext', noCheck: true };
const declarations = (): Options => ({
  ...library[0],
  format: ['esm', 'cjs'],
  onSuccess: async () => undefined,
  dts: { entry: writeDeclarations(declared, compilerOptions), compilerOptions, only: true },
});

// `npm start` needs the command line alone, which builds in a second and leaves what else was built as it was.
const isForStart = process.env.ROLLFLEX_BUILD === 'command-line';
export default defineConfig(isForStart ? commandLine : [...library, declarations(), ...commandLine]);
