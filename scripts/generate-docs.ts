/** Makes the generated parts of the documentation anew. With `--check` it changes nothing and fails if one is stale. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { generatedFiles, regenerate } from './docs-tables.ts';

const onlyCheck = process.argv.includes('--check');
const stale: string[] = [];
for (const file of generatedFiles) {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
  const before = readFileSync(path, 'utf8');
  const after = regenerate(before);
  if (before === after) continue;
  stale.push(file);
  if (!onlyCheck) writeFileSync(path, after);
}
if (onlyCheck && stale.length > 0) {
  console.error(`stale: ${stale.join(', ')} (npm run docs:generate)`);
  process.exitCode = 1;
} else {
  console.log(stale.length === 0 ? 'generated parts are up to date' : `rewrote ${stale.join(', ')}`);
}
