/** The licences of what users get with rollflex, from the lock file, and which licences may be among them. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { table } from './schema-table.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** SPDX identifiers of what may be shipped with, or installed by, rollflex. */
export const allowed: readonly string[] = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];

/** What the script of reports is made of (NOTICE): it is built in, so that the lock file calls it a dev dependency. */
const builtIn = ['echarts', 'zrender', 'tslib'];

/** What packages bring along that is not theirs; the lock file does not say it. */
const inside: Readonly<Record<string, readonly (readonly [name: string, licence: string, place: string])[]>> = {
  'classic-level': [
    ['LevelDB', 'BSD-3-Clause', 'deps/leveldb/leveldb-1.20'],
    ['Snappy', 'BSD-3-Clause', 'deps/snappy/snappy'],
  ],
};

interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly peer?: boolean;
}

/** A package that users get. */
export interface Licensed {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly how: string;
}

/**
 * What is installed with rollflex or built into it, by name.
 *
 * @param declared - the licence in an installed package's own `package.json`, if it is installed
 * @throws Error naming every package whose licence is not allowed, not known, or another than it declares
 */
export function licencesOf(
  lock: { readonly packages: Readonly<Record<string, Locked>> },
  declared: (path: string) => string | undefined,
): Licensed[] {
  const found = new Map<string, Licensed>();
  const wrong: string[] = [];
  for (const [path, { version = '', license = 'none', dev, peer }] of Object.entries(lock.packages)) {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    // Copies of other versions that tools bring for themselves are in no report.
    const isBuiltIn = builtIn.some((one) =>
      [one, `zrender/node_modules/${one}`].includes(path.slice('node_modules/'.length)),
    );
    if (path === '' || ((dev === true || peer === true) && !isBuiltIn)) continue;
    const own = declared(path);
    if (!allowed.includes(license)) wrong.push(`${name} ${version} is under ${license}`);
    else if (own !== undefined && own !== license)
      wrong.push(`${name} ${version}: ${license} in the lock file, ${own} in the package`);
    const how = isBuiltIn && dev === true ? 'built into reports' : 'installed';
    found.set(`${name} ${version}`, { name, version, licence: license, how });
    for (const [part, licence, place] of inside[name] ?? []) {
      if (!allowed.includes(licence)) wrong.push(`${part} in ${name} is under ${licence}`);
      found.set(`${part} ${version}`, { name: part, version: '', licence, how: `in ${name}, \`${place}\`` });
    }
  }
  const missing = builtIn.filter((name) => ![...found.values()].some((one) => one.name === name));
  wrong.push(...missing.map((name) => `${name}, which reports contain, is not in the lock file`));
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
