// @ts-nocheck
/** What the tests have built before them is built once, for all mutants, and stays. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import base from '../vitest.config.ts';

const kept = new URL('../.cache/planted.json', import.meta.url);

export default async function setup() {
  if (!existsSync(kept)) {
    const before = { ...process.env };
    const { test } = await base({ mode: 'test', command: 'serve' });
    const project = { onTestsRerun: () => undefined };
    for (const file of test.globalSetup) await (await import(`../${file}`)).default(project);
    const made = Object.entries(process.env).filter(([name, value]) => before[name] !== value);
    writeFileSync(kept, JSON.stringify(Object.fromEntries(made)));
  }
  Object.assign(process.env, JSON.parse(readFileSync(kept, 'utf8')));
}
