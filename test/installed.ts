/** Before all tests: the package as its users have it, for all tests but those of single parts, which load the sources. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { installed } from '../scripts/installed.ts';

/** What the loader keeps of esbuild (`typescript-loader.mjs`), and how long. */
const written = new URL('../.cache/typescript/', import.meta.url);
const keptFor = 7 * 86_400_000;

function forgetOld(): void {
  for (const name of readdirSync(written)) {
    const file = new URL(name, written);
    // Another run may do the same.
    const seen = statSync(file, { throwIfNoEntry: false });
    if (seen !== undefined && seen.mtimeMs < Date.now() - keptFor) rmSync(file, { force: true });
  }
}

async function make(): Promise<void> {
  process.env.ROLLFLEX_INSTALLED = await installed();
}

export default async function setup(project: TestProject): Promise<void> {
  project.onTestsRerun(make);
  forgetOld();
  await make();
}
