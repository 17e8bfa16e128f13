/** Generated types that have something of other types say the same as if each declared all that it has. Only the generator can break it. */
import { beforeAll, describe, expect, test } from 'vitest';
import { differences } from '../../scripts/types/compare.ts';
import { expanded } from '../../scripts/types/expanded.ts';
import { typescriptTypes } from '../../scripts/types/index.ts';
import { partsOf } from '../../scripts/types/parts.ts';
import { registry } from '../../src/registry.ts';

const isTypes = ([file]: readonly [string, string]): boolean => /^src\/generated\/(messages|settings)\//.test(file);

describe('what is generated', () => {
  let whole: Map<string, string>;
  let byReference: Map<string, string>;
  beforeAll(async () => {
    whole = new Map([...(await typescriptTypes(true))].filter(isTypes));
    byReference = new Map([...(await typescriptTypes())].filter(isTypes));
  });

  test('says the same, field by field, as if every type declared its own', () => {
    const expected = expanded(whole);
    expect(expected.size).toBeGreaterThan(400);
    expect(differences(expected, expanded(byReference))).toEqual([]);
    const linesOf = (texts: Map<string, string>) => [...texts.values()].join('').split('\n').length;
    expect(linesOf(byReference)).toBeLessThan(0.75 * linesOf(whole));
  });

  test('a recipe imports the settings of its parts, and no other definition those of another', () => {
    for (const one of registry.definitions) {
      const text = byReference.get(`src/generated/settings/${one.id}.ts`)!;
      const imported = [...text.matchAll(/from '\.\/(.+)\.ts';/g)].map(([, id]) => id);
      const parts = partsOf(one).map(({ id }) => id);
      expect(parts, one.id).toEqual(expect.arrayContaining(imported));
    }
    const recipe = registry.definitions.find(({ id }) => id === 'tail-batching')!;
    expect(partsOf(recipe).map(({ id }) => id)).toEqual([
      'speculative-admission',
      'long-prompt-queue',
      'prompt-selection',
    ]);
  });
});
