/**
 * Whether the generated types say the same as those of another commit, however they are declared: `npx tsx
 * scripts/types/compare.ts main`. It names each type that differs, is new, or is gone.
 */
import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { expanded } from './expanded.ts';
import { typescriptTypes } from './index.ts';

const isGenerated = (file: string): boolean => /^src\/generated\/(messages|settings)\/.+\.ts$/.test(file);

function texts(commit: string): Map<string, string> {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  const files = git('ls-tree', '-r', '--name-only', commit, 'src/generated').split('\n').filter(isGenerated);
  return new Map(files.map((file) => [file, git('show', `${commit}:${file}`)]));
}

/** The types that differ, each with what is said of it before and after. */
export function differences(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): { type: string; before: string; after: string }[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((type) => before.get(type) !== after.get(type))
    .map((type) => ({ type, before: before.get(type) ?? 'nothing', after: after.get(type) ?? 'nothing' }));
}

if (import.meta.url === pathToFileURL(process.argv[1]!).href) {
  const [, , commit] = process.argv;
  if (commit === undefined) throw new Error('npx tsx scripts/types/compare.ts COMMIT');
  const before = expanded(texts(commit));
  const now = [...(await typescriptTypes())].filter(([file]) => isGenerated(file));
  const different = differences(before, expanded(new Map(now)));
  for (const one of different) console.log(`${one.type}\n  before: ${one.before}\n  after:  ${one.after}`);
  console.log(`${before.size} types compared, ${different.length} differ`);
  process.exitCode = different.length === 0 ? 0 : 1;
}
