/** The licences of what users get with rollflex, from the lock file, and which licences may be among them. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { table } from './schema-table.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** SPDX identifiers of what may be shipped with, or installed by, rollflex. */
export const allowed: readonly string[] = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];

/** What the package has of others in its own files (`dist/THIRD-PARTY-LICENSES.txt`); the lock file calls it dev dependencies. */
const builtIn: Readonly<Record<string, readonly string[]>> = {
  'built in': [
    '@huggingface/tokenizers',
    '@humanwhocodes/momoa',
    'cli-table3',
    'commander',
    'fzstd',
    'hyparquet',
    'hysnappy',
    'json-rpc-2.0',
    'ora',
    'prom-client',
    'pure-rand',
    'simple-statistics',
  ],
  'built into reports': ['echarts'],
};

/** What packages bring along that is not theirs; the lock file does not say it. */
const inside: Readonly<Record<string, readonly (readonly [name: string, licence: string, place: string])[]>> = {
  'classic-level': [
    ['LevelDB', 'BSD-3-Clause', 'deps/leveldb/leveldb-1.20'],
    ['Snappy', 'BSD-3-Clause', 'deps/snappy/snappy'],
  ],
};

type Names = Readonly<Record<string, string>>;
interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly dependencies?: Names;
  readonly optionalDependencies?: Names;
  readonly peerDependencies?: Names;
}
type Lock = Readonly<Record<string, Locked>>;

/** Where a package is that one at `from` asks for: as Node looks for it, there and in every folder above. */
function resolved(lock: Lock, from: string, name: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const path = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (lock[path] !== undefined) return path;
    if (at === '') return undefined;
  }
}

/** Paths of packages and of all that they need. */
function withTheirs(lock: Lock, names: readonly string[]): string[] {
  const found = new Set<string>();
  const add = (from: string, wanted: readonly string[], isOptional: boolean): void => {
    for (const name of wanted) {
      const path = resolved(lock, from, name);
      if (path === undefined && !isOptional) throw new Error(`${name} is not in the lock file`);
      if (path === undefined || found.has(path)) continue;
      found.add(path);
      add(path, Object.keys(lock[path]!.dependencies ?? {}), false);
      add(path, Object.keys(lock[path]!.optionalDependencies ?? {}), true);
    }
  };
  add('', names, false);
  return [...found];
}

/** A package that users get. */
export interface Licensed {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly how: string;
}

/**
 * What is installed with rollflex, built into it, or asked for by it, by name.
 *
 * @param declared - the licence in an installed package's own `package.json`, if it is installed
 * @param shipped - what is built in, by how users get it
 * @throws Error naming every package whose licence is not allowed, not known, or another than it declares
 */
export function licencesOf(
  lock: { readonly packages: Lock },
  declared: (path: string) => string | undefined,
  shipped = builtIn,
): Licensed[] {
  const { dependencies = {}, peerDependencies = {} } = lock.packages['']!;
  const ways = Object.entries({
    installed: Object.keys(dependencies),
    ...shipped,
    'only if you install it': Object.keys(peerDependencies),
  });
  const found = new Map<string, Licensed>();
  const wrong: string[] = [];
  for (const [how, names] of ways) {
    for (const path of withTheirs(lock.packages, names)) {
      const { version = '', license = 'none' } = lock.packages[path]!;
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      if (found.has(`${name} ${version}`)) continue;
      const own = declared(path);
      if (!allowed.includes(license)) wrong.push(`${name} ${version} is under ${license}`);
      else if (own !== undefined && own !== license)
        wrong.push(`${name} ${version}: ${license} in the lock file, ${own} in the package`);
      found.set(`${name} ${version}`, { name, version, licence: license, how });
      for (const [part, licence, place] of inside[name] ?? []) {
        if (!allowed.includes(licence)) wrong.push(`${part} in ${name} is under ${licence}`);
        found.set(`${part} ${version}`, { name: part, version: '', licence, how: `in ${name}, \`${place}\`` });
      }
    }
  }
  if (wrong.length > 0) throw new Error(`licences (allowed: ${allowed.join(', ')}): ${wrong.join('; ')}`);
  const order = (one: Licensed): string => `${one.name.toLowerCase()} ${one.version}`;
  return [...found.values()].sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** The licence that an installed package declares. */
export function declaredLicence(path: string): string | undefined {
  const file = `${root}${path}/package.json`;
  if (!existsSync(file)) return undefined;
  const { license } = JSON.parse(readFileSync(file, 'utf8')) as { license?: string | { type: string } };
  return typeof license === 'object' ? license.type : (license ?? 'none');
}

/** The licences of this repository. Throws as {@link licencesOf} does. */
export const ownLicences = (): Licensed[] =>
  licencesOf(JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')), declaredLicence);

/** The table of them. */
export function licenceTable(licences: readonly Licensed[] = ownLicences()): string {
  return table(
    ['Package', 'Version', 'Licence', 'How you get it'],
    licences.map(({ name, version, licence, how }) => [name, version, licence, how]),
  );
}
