/** Runs every example; exits with 1 if one fails. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const names = readdirSync(folder)
  .filter((name) => existsSync(`${folder}${name}/main.ts`))
  .sort();
let failed = 0;
for (const name of names) {
  const run = spawnSync(process.execPath, ['--import', 'tsx', `${folder}${name}/main.ts`], { encoding: 'utf8' });
  const passed = run.status === 0;
  console.log(`${passed ? 'passed' : 'FAILED'} ${name}`);
  if (passed) continue;
  failed += 1;
  console.error(run.stdout + run.stderr);
}
console.log(`${names.length - failed} of ${names.length} examples passed`);
if (failed > 0 || names.length === 0) process.exitCode = 1;
