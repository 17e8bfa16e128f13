/**
 * Whether a tag may be released: it, both packages, the lock file and the changelog must name one version.
 * `npx tsx scripts/release.ts v0.1.0`; exit code 1 where something does not fit.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Texts of the files that name the version. */
export interface ReleaseFiles {
  readonly package: string;
  readonly lock: string;
  /** `python/pyproject.toml`, which leaves the version to `versionPy`. */
  readonly pyproject: string;
  readonly versionPy: string;
  readonly changelog: string;
}

/** Those of this repository. */
export function releaseFiles(): ReleaseFiles {
  const read = (file: string): string => readFileSync(fileURLToPath(new URL(`../${file}`, import.meta.url)), 'utf8');
  return {
    package: read('package.json'),
    lock: read('package-lock.json'),
    pyproject: read('python/pyproject.toml'),
    versionPy: read('python/src/rollflex/_version.py'),
    changelog: read('CHANGELOG.md'),
  };
}

const versionIn = (json: string): unknown => (JSON.parse(json) as { version?: unknown }).version;

/** The version of the Python package, wherever `pyproject.toml` says that it stands. */
function pythonVersion({ pyproject, versionPy }: ReleaseFiles): string | undefined {
  const fixed = /^version\s*=\s*"([^"]+)"/m.exec(pyproject)?.[1];
  if (fixed !== undefined) return fixed;
  if (!/^dynamic\s*=\s*\[[^\]]*"version"/m.test(pyproject)) return undefined;
  return /^__version__ = "([^"]+)"$/m.exec(versionPy)?.[1];
}

/** What keeps a tag from being released, a line each; none where all fits. */
export function releaseProblems(tag: string, files: ReleaseFiles): string[] {
  const version = /^v(\d+\.\d+\.\d+)$/.exec(tag)?.[1];
  if (version === undefined) return [`the tag is ${tag}: expected v and a version, such as v0.1.0`];
  const problems: string[] = [];
  for (const [where, got] of [
    ['package.json', versionIn(files.package)],
    ['package-lock.json', versionIn(files.lock)],
    ['the Python package', pythonVersion(files)],
  ] as const) {
    if (got !== version) problems.push(`${where} says ${got ?? 'nothing'}: expected ${version}`);
  }
  const heading = /^## (.+)$/m.exec(files.changelog)?.[1] ?? 'nothing';
  const [, named, date] = /^(\S+) \((\d{4}-\d\d-\d\d)\)$/.exec(heading) ?? [];
  if (named !== version || Number.isNaN(Date.parse(date ?? '')))
    problems.push(
      `the first heading of CHANGELOG.md is "${heading}": expected "${version} (date)", such as (2026-12-24)`,
    );
  return problems;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const problems = releaseProblems(process.argv[2] ?? 'none', releaseFiles());
  for (const problem of problems) console.error(`release: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`release: ${process.argv[2]} fits both packages and the changelog`);
}
