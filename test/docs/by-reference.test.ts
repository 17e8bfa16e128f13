/** Generated types that have something of other types say the same as if each declared all that it has. */
import { describe, expect, test } from 'vitest';
import { pythonModels } from '../../scripts/python/models.ts';
import { settingsName, settingsShape } from '../../scripts/python/sharing.ts';
import { differences } from '../../scripts/types/compare.ts';
import { expanded } from '../../scripts/types/expanded.ts';
import { basesOf, type Declared, headOf } from '../../scripts/types/sharing.ts';
import { TypeWriter } from '../../scripts/types/type-writer.ts';
import { registry } from '../../src/registry.ts';
import { z } from '../../src/schemas/index.ts';

describe('the comparison', () => {
  const types = (text: string) => expanded(new Map([['src/generated/settings/made.ts', text]]));
  const before = types(
    "export interface Made {\n  /** A. */\n  a?: 'x' | 'y' | undefined;\n  /** B. */\n  b: { c: 1 }[];\n}",
  );

  test('sees no difference in how it is said', () => {
    const after = types(
      "interface Other {\n  /** B. */\n  b: { c: 1 }[];\n  /** A. */\n  a?: undefined | 'y' | 'x';\n}\n" +
        "export interface Made extends Pick<Other, 'a' | 'b'> {}",
    );
    after.delete('src/generated/settings/made.ts Other');
    expect(differences(before, after)).toEqual([]);
  });

  test.each([
    ['a type', "export interface Made {\n  /** A. */\n  a?: 'x' | undefined;\n  /** B. */\n  b: { c: 1 }[];\n}"],
    ['a type inside', "export interface Made {\n  /** A. */\n  a?: 'x' | 'y';\n  /** B. */\n  b: { c: 2 }[];\n}"],
    [
      'what must be there',
      "export interface Made {\n  /** A. */\n  a: 'x' | 'y' | undefined;\n  /** B. */\n  b: { c: 1 }[];\n}",
    ],
    ['what is said', "export interface Made {\n  /** C. */\n  a?: 'x' | 'y';\n  /** B. */\n  b: { c: 1 }[];\n}"],
    [
      'a default',
      "export interface Made {\n  /**\n   * A.\n   * @defaultValue 1\n   */\n  a?: 'x' | 'y';\n  /** B. */\n  b: { c: 1 }[];\n}",
    ],
    ['a field', "export interface Made {\n  /** A. */\n  a?: 'x' | 'y';\n}"],
    ['a name', "export interface New {\n  /** A. */\n  a?: 'x' | 'y';\n  /** B. */\n  b: { c: 1 }[];\n}"],
  ])('sees that %s differs', (_, text) => {
    expect(differences(before, types(text))).not.toEqual([]);
  });

  test('refuses what does not compile', () => {
    expect(() => types('export interface Made { a: Nothing }')).toThrow("made.ts: Cannot find name 'Nothing'");
  });
});

describe('what a type has of others', () => {
  const shape = {
    a: z.number().describe('A.'),
    b: z.number().describe('B.'),
    c: z.strictObject({ d: z.string().describe('D.') }).describe('C.'),
  };
  const part: Declared = {
    name: 'Part',
    module: 'src/generated/settings/part.ts',
    side: 'input',
    fields: new TypeWriter([]).fieldsOf('Part', z.strictObject(shape), 'input'),
  };
  const declared = (fields: z.core.$ZodLooseShape): string =>
    new TypeWriter([part]).declaration('Made', z.strictObject(fields as never), 'input', ['Made.']);

  test.each([
    ['all of it', shape, 'extends Part {}'],
    ['most of it', { a: shape.a, c: shape.c }, "extends Omit<Part, 'b'> {}"],
    ['some of it', { a: shape.a }, "extends Pick<Part, 'a'> {}"],
  ])('%s', (_, fields, expected) => {
    expect(declared(fields)).toBe(`/** Made. */\nexport interface Made ${expected}`);
  });

  test('a field that means something else is its own', () => {
    const text = declared({ a: shape.a, b: z.number().describe('Other.'), c: shape.c });
    expect(text).toBe(
      "/** Made. */\nexport interface Made extends Omit<Part, 'b'> {\n  /** Other. */\n  b: number;\n}",
    );
  });

  test('so is one with another name; where its type takes several lines, that is named', () => {
    const text = declared({ e: shape.c.describe('E.'), f: shape.a });
    expect(text).toContain("  /** E. */\n  e: Part['c'];\n  /** A. */\n  f: number;\n}");
  });

  test('what is written has nothing of what is read', () => {
    const writer = new TypeWriter([{ ...part, side: 'output' }]);
    expect(writer.declaration('Made', z.strictObject(shape), 'input', ['Made.'])).toContain('interface Made {');
  });

  test('each field comes from one type, from that which has most of them', () => {
    const other = { ...part, name: 'Other', fields: new Map([...part.fields].slice(1)) };
    const { bases, own } = basesOf(part.fields, ['b', 'c'], [part, other]);
    expect([bases.map(({ of, keys }) => [of.name, keys]), own]).toEqual([[['Part', ['b', 'c']]], []]);
    expect(basesOf(part.fields, ['a', 'b', 'c'], [other]).own).toEqual(['a']);
  });

  test('a long list of fields goes on in further lines', () => {
    const keys = Array.from({ length: 12 }, (_, at) => `aFieldWithAName${at}`);
    const of = { ...part, fields: new Map([...keys, 'z', 'y'].map((key) => [key, part.fields.get('a')!])) };
    const lines = headOf('Made', [
      { of, keys: keys.slice(0, 7) },
      { of: part, keys: ['a', 'b', 'c'] },
    ]);
    expect(
      lines
        .join('\n')
        .split('\n')
        .every((line) => line.length <= 120),
    ).toBe(true);
    expect(lines.join('\n')).toMatch(/^export interface Made\n {2}extends Pick<Part, [^,]+>,\n {4}Part \{$/);
  });
});

describe('classes of Python', () => {
  /** The classes of all modules: what they extend, and their own keys, each with whether it must be there. */
  const classesIn = (texts: Iterable<string>) => {
    const found = new Map<string, { bases: string[]; own: [string, boolean][] }>();
    for (const one of texts) {
      const text = one.replaceAll(/"""[\s\S]*?"""/g, '');
      for (const [, name, bases, body] of text.matchAll(/^class (\w+)\(([^)]*)\):\n((?: {4}.*\n|\n(?! ?\S))*)/gm)) {
        const own = [...body!.matchAll(/^ {4}(\w+): (.*)$/gm)].map(([, key, type]): [string, boolean] => [
          key!,
          !type!.startsWith('NotRequired['),
        ]);
        found.set(name!, { bases: bases!.split(',').map((one) => one.trim()), own });
      }
    }
    return found;
  };

  test('have every setting once, of their own or of one of those that they extend', async () => {
    const classes = classesIn((await pythonModels()).values());
    const keysOf = (name: string): [string, boolean][] => {
      const { bases, own } = classes.get(name) ?? { bases: [], own: [] };
      return [...bases.flatMap(keysOf), ...own];
    };
    for (const one of registry.definitions) {
      const { properties, required } = settingsShape(one);
      const expected = Object.keys(properties!).map((key) => [key, required?.includes(key) ?? false]);
      expect(keysOf(settingsName(one)).sort(), one.id).toEqual(expected.sort());
    }
    const recipe = classes.get('TailBatchingConfig')!;
    expect(recipe.bases[0]).toBe('SpeculativeAdmissionConfig');
    expect(recipe.own).toEqual([['promptSelection', false]]);
  });
});
