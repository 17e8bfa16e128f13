/** What a release needs: one version everywhere, licences that may be shipped, and workflows that do what they should. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
// The parser that typedoc and vite bring; it reads YAML 1.2, in which `on` is no boolean, as GitHub does.
import { parse } from 'yaml';
import { type ReleaseFiles, releaseFiles, releaseProblems } from '../../scripts/release.ts';
import { allowed, licencesOf, ownLicences } from '../../scripts/tables/licences.ts';
import { root } from '../support/command-line/process.ts';

const files = releaseFiles();
const { version } = JSON.parse(files.package) as { version: string };
const dated = { ...files, changelog: files.changelog.replace(/^## .*$/m, `## ${version} (2026-12-24)`) };

test('a tag is released where everything names its version', () => {
  expect(releaseProblems(`v${version}`, dated)).toEqual([]);
});

test.each([
  ['v9.9.9', {}, /package\.json says.*expected 9\.9\.9/],
  [version, {}, /expected v and a version/],
  [`v${version}-rc.1`, {}, /expected v and a version/],
  [`v${version}`, { lock: '{"version":"0.0.1"}' }, /^package-lock\.json says 0\.0\.1/],
  [`v${version}`, { versionPy: '__version__ = "0.0.2"\n' }, /^the Python package says 0\.0\.2/],
  [`v${version}`, { pyproject: '[project]\nversion = "0.0.3"\n' }, /^the Python package says 0\.0\.3/],
  [`v${version}`, { pyproject: '[project]\n' }, /^the Python package says nothing/],
  [`v${version}`, { changelog: `# Changelog\n\n## ${version} (unreleased)\n` }, /CHANGELOG\.md is ".*unreleased/],
  [`v${version}`, { changelog: `# Changelog\n\n## ${version} (2026-99-99)\n` }, /CHANGELOG\.md/],
  [`v${version}`, { changelog: `## 99.0.0 (2026-12-24)\n\n## ${version} (2026-12-01)\n` }, /CHANGELOG\.md is "99/],
] satisfies [string, Partial<ReleaseFiles>, RegExp][])('%s with %o is not', (tag, change, why) => {
  expect(releaseProblems(tag, { ...dated, ...change }).join('\n')).toMatch(why);
});

test('every package that users get is there, under an allowed licence', () => {
  const { dependencies, peerDependencies } = JSON.parse(files.package) as Record<string, Record<string, string>>;
  const listed = ownLicences();
  const names = listed.map((one) => one.name);
  const own = [...Object.keys(dependencies!), ...Object.keys(peerDependencies!)];
  expect(names).toEqual(expect.arrayContaining([...own, 'commander', 'emoji-regex', 'echarts', 'zrender', 'LevelDB']));
  for (const one of listed) expect(allowed, one.name).toContain(one.licence);
  expect(names).not.toContain('vitest');
});

test('the root needs zod and eventemitter3 alone, and nothing that must be installed with it', () => {
  const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(files.package) as Record<string, object>;
  expect(Object.keys(dependencies!)).toEqual(['eventemitter3', 'zod']);
  const optional = Object.fromEntries(Object.keys(peerDependencies!).map((name) => [name, { optional: true }]));
  expect(peerDependenciesMeta).toEqual(optional);
});

test('another licence, an unknown one, or two that differ are refused by name', () => {
  const of = (packages: object, declared?: string, shipped = {}) => {
    const root = { dependencies: { a: '1' } };
    return () =>
      licencesOf(
        { packages: { '': root, 'node_modules/a': { license: 'MIT' }, ...packages } },
        () => declared,
        shipped,
      );
  };
  expect(of({})()).toHaveLength(1);
  expect(of({ 'node_modules/tool': { license: 'GPL-3.0-only' } })()).toHaveLength(1);
  expect(of({ 'node_modules/a': { version: '1.0.0', license: 'GPL-3.0-only' } })).toThrow(
    /a 1\.0\.0 is under GPL-3\.0-only/,
  );
  const needy = { license: 'MIT', dependencies: { '@b/c': '2' }, optionalDependencies: { absent: '1' } };
  const inner = { 'node_modules/a': needy, 'node_modules/a/node_modules/@b/c': { version: '2.0.0' } };
  expect(of(inner)).toThrow(/@b\/c 2\.0\.0 is under none/);
  expect(of({ 'node_modules/a': { license: 'ISC' } }, 'MIT')).toThrow(/ISC in the lock file, MIT in the package/);
  expect(of({ 'node_modules/b': { license: 'GPL-3.0-only' } }, undefined, { 'built in': ['b'] })).toThrow(
    /b {2}is under/,
  );
  expect(of({}, undefined, { 'built in': ['b'] })).toThrow(/b is not in the lock file/);
});

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Job {
  readonly needs?: string;
  readonly environment?: string;
  readonly 'timeout-minutes': number;
  readonly env?: Readonly<Record<string, string>>;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: { readonly node: readonly number[] } };
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly on: { readonly push: { readonly tags?: readonly string[]; readonly branches?: readonly string[] } };
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const workflow = (name: string): Workflow =>
  parse(readFileSync(join(root, '.github/workflows', name), 'utf8')) as Workflow;
const release = workflow('release.yml');
const ci = workflow('ci.yml');
const runs = (job: Job): string => job.steps.map((step) => step.run ?? '').join('\n');
/** A job and all that must have passed before it. */
const before = (name: string): string[] => {
  const { needs } = release.jobs[name]!;
  return needs === undefined ? [name] : [...before(needs), name];
};

test('nothing is published before versions and everything else are checked', () => {
  expect(release.on).toEqual({ push: { tags: ['v*'] } });
  expect(before('npm')).toEqual(['versions', 'ci', 'build', 'npm']);
  expect(before('pypi')).toEqual(['versions', 'ci', 'build', 'pypi']);
  expect(runs(release.jobs.versions!)).toContain('scripts/release.ts "$GITHUB_REF_NAME"');
  for (const job of [release.jobs.ci!, ci.jobs.ci!]) {
    expect(runs(job)).toBe(['', '', '.ci/run'].join('\n'));
    expect(job.strategy!.matrix.node).toEqual([20, 22, 24]);
    // Where it is said, .ci/run fails without a browser.
    expect(job.env?.CHROMIUM_PATH).toMatch(/^\/usr\/bin\//);
  }
});

test('only the jobs that publish may show an identity, and they run nothing of the repository', () => {
  expect([release.permissions, ci.permissions]).toEqual([{ contents: 'read' }, { contents: 'read' }]);
  for (const [name, job] of Object.entries(release.jobs)) {
    const publishes = name === 'npm' || name === 'pypi';
    expect(job.permissions, name).toEqual(publishes ? { 'id-token': 'write' } : undefined);
    expect(job.environment, name).toBe(publishes ? name : undefined);
    if (publishes) expect(job.steps.some((step) => step.uses?.startsWith('actions/checkout'))).toBe(false);
  }
  expect(runs(release.jobs.npm!)).toMatch(/npm publish --provenance .*--ignore-scripts/);
  expect(release.jobs.pypi!.steps.at(-1)).toEqual({
    uses: 'pypa/gh-action-pypi-publish@release/v1',
    with: { 'packages-dir': 'out/python' },
  });
});

test('every action has a version, every script is there, every job has a limit', () => {
  for (const job of [...Object.values(release.jobs), ...Object.values(ci.jobs)]) {
    expect(job['timeout-minutes']).toBeGreaterThan(0);
    for (const { uses, run } of job.steps) {
      expect([uses, run].filter((one) => one !== undefined)).toHaveLength(1);
      if (uses !== undefined) expect(uses).toMatch(/^[\w-]+\/[\w-]+@(v\d+|release\/v\d+)$/);
      for (const [file] of (run ?? '').matchAll(/(?<=^|\s)(scripts\/\S+|\.ci\/\S+)/g))
        expect(existsSync(join(root, file)), file).toBe(true);
    }
  }
});
