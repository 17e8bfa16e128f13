/**
 * Runs every example, or those that are named, as a reader does in a project of theirs: a copy, beside the installed package. Compares
 * what it prints with what its page says; exits with 1 if one fails.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installed } from '../scripts/installed.ts';
import { exampleList, printed } from '../scripts/tables/example-list.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const rollflex = await installed();
// Within the clone, where Node finds tsx.
const project = mkdtempSync(join(root, '.cache', 'examples-'));
const env = {
  ...process.env,
  ROLLFLEX_COMMAND: join(rollflex, 'dist', 'cli.js'),
  PYTHONPATH: process.env.PYTHONPATH ?? join(root, 'python', 'src'),
};
const named = process.argv.slice(2);
let count = 0;
let failed = 0;
try {
  mkdirSync(join(project, 'node_modules'));
  symlinkSync(rollflex, join(project, 'node_modules', 'rollflex'));
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  // That of the clone leads to the sources of the package.
  writeFileSync(join(project, 'tsconfig.json'), '{}');
  cpSync(join(root, 'examples'), join(project, 'examples'), { recursive: true });
  for (const { name, prints } of exampleList()) {
    const main = join('examples', name, 'main.ts');
    if (!existsSync(join(project, main)) || (named.length > 0 && !named.includes(name))) continue;
    count += 1;
    const options = { cwd: project, env, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', main], options);
    const isAsSaid = prints === undefined || printed(prints, stdout);
    const passed = status === 0 && isAsSaid;
    console.log(`${passed ? 'passed' : 'FAILED'} ${name}`);
    if (passed) continue;
    failed += 1;
    console.error(stdout + stderr);
    if (!isAsSaid) console.error(`its page says that it prints:\n${prints}`);
  }
} finally {
  rmSync(project, { recursive: true });
}
console.log(`${count - failed} of ${count} examples passed`);
if (failed > 0 || count === 0) process.exitCode = 1;
