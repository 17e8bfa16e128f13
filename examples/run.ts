/** Runs every example, and compares what it prints with what its page says; exits with 1 if one fails. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { exampleList, printed } from '../scripts/example-list.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const examples = exampleList().filter(({ name }) => existsSync(`${folder}${name}/main.ts`));
let failed = 0;
for (const { name, prints } of examples) {
  const run = spawnSync(process.execPath, ['--import', 'tsx', `${folder}${name}/main.ts`], { encoding: 'utf8' });
  const isAsSaid = prints === undefined || printed(prints, run.stdout);
  const passed = run.status === 0 && isAsSaid;
  console.log(`${passed ? 'passed' : 'FAILED'} ${name}`);
  if (passed) continue;
  failed += 1;
  console.error(run.stdout + run.stderr);
  if (!isAsSaid) console.error(`its page says that it prints:\n${prints}`);
}
console.log(`${examples.length - failed} of ${examples.length} examples passed`);
if (failed > 0 || examples.length === 0) process.exitCode = 1;
