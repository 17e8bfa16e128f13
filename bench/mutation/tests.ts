import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Where tests are named after what they test. */
const folders = ['test/unit/policies', 'test/unit/planners', 'test/unit/recipes', 'test/property'];
/** The recorded trace comes last: what fails there alone is seen to be other than it was, not to be wrong. */
const golden = 'test/golden/golden.test.ts';
/** Tests that take the part of one definition. */
const laws = ['test/laws/registry.test.ts', 'test/laws/planners.test.ts'];

/** Files of tests beside those that are named after a definition. */
const more: Readonly<Record<string, readonly string[]>> = {
  'speculative-admission': [
    'test/unit/policies/admission-memory.test.ts',
    'test/unit/recipes/tail-batching.test.ts',
    'test/property/conservation.test.ts',
  ],
  'tail-batching': ['test/property/conservation.test.ts'],
  'frontier-group-dispatch': ['test/unit/policies/frontier-auto.test.ts', 'test/property/frontier-auto.test.ts'],
};

/** Half a minute for each mutant that lives: what only they would find is not counted. */
const slow: readonly string[] = [
  'test/unit/planners/flex-ulysses-known.test.ts',
  'test/property/flex-ulysses-optimum.test.ts',
];

/**
 * The files of tests of a definition, those first that say soonest what is wrong. Those of recipes that use it, of the server
 * and of the simulator are not among them: what they would find beside is not counted.
 */
export function testsOf(id: string): string[] {
  const isOwn = (name: string): boolean =>
    name === `${id}.test.ts` || (name.startsWith(`${id}-`) && name.endsWith('.test.ts'));
  const own = folders.flatMap((folder) =>
    readdirSync(`${root}${folder}`)
      .filter(isOwn)
      .map((name) => `${folder}/${name}`),
  );
  const all = [...own, ...(more[id] ?? [])].filter((file) => !slow.includes(file));
  const isQuick = (file: string): boolean => file.startsWith('test/unit');
  return [...all.filter(isQuick), ...laws, ...all.filter((file) => !isQuick(file)), golden].map((file) => root + file);
}
