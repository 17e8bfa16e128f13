/** Before all tests: the package as its users have it, for all tests but those of single parts, which load the sources. */
import type { TestProject } from 'vitest/node';
import { installed } from '../scripts/installed.ts';

async function make(): Promise<void> {
  process.env.ROLLFLEX_INSTALLED = await installed();
}

export default async function setup(project: TestProject): Promise<void> {
  project.onTestsRerun(make);
  await make();
}
