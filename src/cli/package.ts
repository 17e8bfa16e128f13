/** The folder and the version of this package. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns the root of the package: the nearest parent folder with the bundled traces. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'examples', 'traces')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

/** Set if this file is bundled into a package other than the npm package. */
declare const ROLLFLEX_VERSION: string | undefined;

/** Returns the version of the package. */
export function packageVersion(): string {
  if (typeof ROLLFLEX_VERSION === 'string') return ROLLFLEX_VERSION;
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string };
  return version;
}
