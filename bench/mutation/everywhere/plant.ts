/** A copy of a clone with mutants in its sources: built and tested as the clone is, with an environment variable for the one in force. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Mutant, place, sources } from './draw.ts';

/** In a browser nothing has an environment: who opens a page, or starts its threads, says which mutant is in force. */
const patches = [
  ['test/support/browser/chromium.ts', 'return chromium.launch(', 'return globalThis.planted.launch('],
  ['docs/playground/src/pool.ts', 'new SimulatorWorker()', 'new SimulatorWorker({ name: globalThis.planted?.active })'],
] as const;

/** Makes the copy, of what is committed. Returns the ids of the mutants that are in it. */
export async function plant(clone: string, copy: string, mutants: readonly Mutant[]): Promise<ReadonlySet<string>> {
  const { files, placed } = await place(sources(clone), mutants);
  rmSync(copy, { recursive: true, force: true });
  execFileSync('git', ['clone', '--quiet', clone, copy]);
  // Links would lead out of the copy.
  execFileSync('cp', ['-al', join(clone, 'node_modules'), copy]);
  const kept = readdirSync(join(copy, 'node_modules')).filter((name) => /^\.(cache|vite.*)$/.test(name));
  for (const name of kept) rmSync(join(copy, 'node_modules', name), { recursive: true });
  cpSync(fileURLToPath(new URL('in-copy', import.meta.url)), join(copy, 'planted'), { recursive: true });
  mkdirSync(join(copy, '.cache/translated'), { recursive: true });
  const header = readFileSync(join(copy, 'planted/header.txt'), 'utf8').replace(/\n\s*/g, ' ');
  for (const { name, content } of files) writeFileSync(join(copy, name), `// @ts-nocheck\n${header}\n${content}`);
  for (const [file, from, to] of patches) {
    const text = readFileSync(join(copy, file), 'utf8');
    if (!text.includes(from)) throw new Error(`${file} has no "${from}" any more: mutants would not reach the browser`);
    writeFileSync(join(copy, file), `// @ts-nocheck\n${text.replace(from, to)}`);
  }
  return placed;
}
