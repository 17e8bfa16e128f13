/**
 * Makes the generated parts of the documentation anew, the TypeScript types of the vocabulary and of every definition, and
 * the typed models of the Python package. With `--check` it changes nothing and fails if one is stale.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonModels } from './python/models.ts';
import { typedClients } from './python/opens.ts';
import { agenticRollout } from './site/agentic-picture.ts';
import { tailFrontier } from './site/frontier-picture.ts';
import { whatWaits } from './site/picture.ts';
import { generatedFiles, regenerate } from './tables/docs-tables.ts';
import { typescriptTypes } from './types/index.ts';

const onlyCheck = process.argv.includes('--check');
const stale: string[] = [];
const absolute = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url));

function renew(file: string, text: (before: string) => string): void {
  const path = absolute(file);
  const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const after = text(before);
  if (before === after) return;
  stale.push(file);
  if (onlyCheck) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, after);
}

for (const file of generatedFiles) renew(file, regenerate);
renew('docs/pictures/what-waits.svg', () => whatWaits());
renew('docs/pictures/tail-frontier.svg', () => tailFrontier());
renew('docs/pictures/agentic-rollout.svg', () => agenticRollout());
const types = await typescriptTypes();
for (const [file, text] of types) renew(file, () => text);
const models = await pythonModels();
for (const [file, text] of models) renew(file, () => text);
renew('python/src/rollflex/_typed.py', () => typedClients());

/** What no longer has a schema leaves nothing behind. */
function clear(folder: string, isGenerated: (file: string) => boolean): void {
  for (const name of readdirSync(absolute(folder), { recursive: true, encoding: 'utf8' })) {
    const file = `${folder}/${name.replaceAll('\\', '/')}`;
    if (!isGenerated(file)) continue;
    stale.push(file);
    if (!onlyCheck) rmSync(absolute(file));
  }
}

// What stands there by hand has an underscore.
clear('python/src/rollflex/models', (file) => file.endsWith('.py') && !models.has(file) && !/\/_\w+\.py$/.test(file));
clear('src/generated', (file) => file.endsWith('.ts') && !types.has(file));

if (onlyCheck && stale.length > 0) {
  console.error(`stale: ${stale.join(', ')} (npm run docs:generate)`);
  process.exitCode = 1;
} else {
  console.log(stale.length === 0 ? 'generated parts are up to date' : `rewrote ${stale.join(', ')}`);
}
