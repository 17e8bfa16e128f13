/**
 * The package as its users have it: built (without declarations, which nothing runs), packed by npm, and unpacked where Node finds
 * the other packages in this clone. It stays in `.cache` under a name that its sources decide, for tests, examples and CI together.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, '.cache');
const manifest = join(root, 'package.json');
/** What `npm pack` takes beside `dist`; the last three in any case. */
const packed = (JSON.parse(readFileSync(manifest, 'utf8')) as { files: string[] }).files
  .filter((name) => name !== 'dist')
  .concat('package.json', 'README.md', 'LICENSE');
/** Milliseconds after which what nobody has used goes. */
const keptFor = 86_400_000;

function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesIn(join(path, name)));
}

/** A name for what these files make. */
function nameOf(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex').slice(0, 16);
}

/** Builds and packs, in a folder; returns the path of the tarball. */
async function pack(folder: string): Promise<string> {
  for (const name of packed) cpSync(join(root, name), join(folder, name), { recursive: true });
  const { buildProduct, buildsOf } = await import('./build/bundles.ts');
  const { library, commandLine } = buildsOf({ outDir: join(folder, 'dist'), licences: 'THIRD-PARTY-LICENSES.txt' });
  await buildProduct([...library, ...commandLine]);
  const options = { cwd: folder, encoding: 'utf8' } as const;
  return join(folder, execFileSync('npm', ['pack', '--silent', '--ignore-scripts'], options).trim());
}

/**
 * Returns the folder of the package, which is `rollflex` in a `node_modules`. `ROLLFLEX_TARBALL=<file>` takes what is packed already.
 */
export async function installed(): Promise<string> {
  const given = process.env.ROLLFLEX_TARBALL;
  const sources = ['src', 'scripts', 'package-lock.json', ...packed].map((name) => join(root, name));
  const folder = join(cache, `installed-${nameOf((given === undefined ? sources : [given]).flatMap(filesIn))}`);
  const within = (folder: string): string => join(folder, 'node_modules', 'rollflex');
  if (!existsSync(folder)) {
    const own = `${folder}.${process.pid}`;
    mkdirSync(within(own), { recursive: true });
    const stage = join(own, 'stage');
    const tarball = given ?? (await pack(stage));
    execFileSync('tar', ['-xzf', tarball, '-C', within(own), '--strip-components=1']);
    rmSync(stage, { recursive: true, force: true });
    try {
      renameSync(own, folder);
    } catch (error) {
      // Another process was sooner.
      if (!existsSync(folder)) throw error;
      rmSync(own, { recursive: true });
    }
  }
  const now = new Date();
  utimesSync(folder, now, now);
  for (const name of readdirSync(cache).filter((one) => one.startsWith('installed-'))) {
    const path = join(cache, name);
    if (statSync(path).mtimeMs < now.getTime() - keptFor) rmSync(path, { recursive: true, force: true });
  }
  return within(folder);
}
