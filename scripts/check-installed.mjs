/**
 * What `npm install rollflex` brought into a project, by its lock file: everything from the registry, with a checksum,
 * and no script that must run at installation. `node scripts/check-installed.mjs <project> <registry>`
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const [project, registry] = process.argv.slice(2);
const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
/** Its script only looks whether one of the binaries that the package contains fits; without it, it looks at run time. */
const scriptsThatMayStay = ['node_modules/classic-level'];
const { origin } = new URL(registry);

const problems = Object.entries(packages).flatMap(([path, { resolved, integrity, hasInstallScript }]) => {
  if (path === '') return [];
  const found = [];
  if (path === 'node_modules/rollflex') {
    if (!/^file:.*\.tgz$/.test(resolved)) found.push(`is ${resolved}, and not what was packed`);
  } else if (!URL.canParse(resolved) || new URL(resolved).origin !== origin) {
    found.push(`comes from ${resolved ?? 'nowhere'}, and not from the registry`);
  }
  if (!/^sha512-/.test(integrity)) found.push('has no checksum');
  if (hasInstallScript && !scriptsThatMayStay.includes(path)) found.push('has a script that runs at installation');
  return found.map((one) => `${path} ${one}`);
});
if (packages['node_modules/rollflex'] === undefined) problems.push('rollflex is not installed');
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
