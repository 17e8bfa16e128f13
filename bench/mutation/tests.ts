/** Files of tests beside those that are named after a definition. */
const more: Readonly<Record<string, readonly string[]>> = {
  'speculative-admission': [
    'test/unit/policies/admission-memory.test.ts',
    'test/unit/recipes/tail-batching.test.ts',
    'test/property/conservation.test.ts',
  ],
  'frontier-group-dispatch': ['test/{unit/policies,property}/frontier-auto.test.ts'],
};

/**
 * The tests of a definition, as patterns: fast ones first. Those of recipes that use it, of the server and of the simulator
 * are not among them: what they would find beside is not counted.
 */
export function testsOf(id: string): string[] {
  return [
    'test/golden/golden.test.ts',
    `test/unit/{policies,planners,recipes}/${id}.test.ts`,
    `test/unit/planners/${id}-*.test.ts`,
    'test/laws/{registry,planners}.test.ts',
    `test/property/${id}.test.ts`,
    `test/property/${id}-*.test.ts`,
    ...(more[id] ?? []),
  ];
}
