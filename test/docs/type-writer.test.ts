/** Types from schemas: the odd cases. */
import { describe, expect, test } from 'vitest';
import { comment, meaning } from '../../scripts/types/comment.ts';
import { importsOf, unionOf } from '../../scripts/types/modules.ts';
import { TypeWriter } from '../../scripts/types/type-writer.ts';
import { prompt, z } from '../../src/schemas/index.ts';

/** The fields of a type, without its first and last line. */
function fieldsOf(shape: z.core.$ZodLooseShape, side: 'input' | 'output' = 'input'): string {
  const text = new TypeWriter().declaration('Made', z.strictObject(shape as never), side, ['Made.']);
  return text.split('\n').slice(2, -1).join('\n');
}

describe('types', () => {
  test('a key that is no name is quoted', () => {
    expect(fieldsOf({ 'a-b': z.string().describe('Said.') })).toContain("  'a-b': string;");
  });

  test('what has a default may be left out of the input alone', () => {
    const shape = { a: z.number().default(1).describe('Said.') };
    expect(fieldsOf(shape)).toBe('  /**\n   * Said.\n   *\n   * @defaultValue `1`\n   */\n  a?: number | undefined;');
    expect(fieldsOf(shape, 'output')).toBe('  /** Said. */\n  a: number;');
  });

  test('an object that may be absent, and a list of alternatives', () => {
    const inner = z.strictObject({ b: z.boolean().describe('Inner.') });
    expect(
      fieldsOf({ a: inner.optional().describe('Said.') })
        .split('\n')
        .slice(1),
    ).toEqual(['  a?:', '    | {', '        /** Inner. */', '        b: boolean;', '      }', '    | undefined;']);
    const list = z.array(z.union([z.literal(0), z.literal("it's")])).describe('Said.');
    expect(fieldsOf({ a: list })).toContain("a: (0 | 'it\\'s')[];");
  });

  test('maps, what may be anything, and objects with further fields', () => {
    const loose = z.looseObject({ type: z.string() }).describe('Said.');
    const fields = fieldsOf({
      map: z.record(z.string(), z.int()).describe('Said.'),
      any: z.unknown().optional().describe('Said.'),
      loose,
    });
    expect(fields).toContain('map: Record<string, number>;');
    expect(fields).toContain('any?: unknown;');
    expect(fields).toContain('    [key: string]: unknown;');
  });

  test('an object of the vocabulary is named, whatever is said of the field', () => {
    const writer = new TypeWriter();
    const text = writer.declaration('Made', z.strictObject({ a: prompt.describe('Other.') }), 'output', ['Made.']);
    expect(text).toContain('  /** Other. */\n  a: Prompt;');
    expect([...writer.used].map(({ name }) => name)).toEqual(['Prompt']);
  });

  test('a field without a description is refused, and a type that there is none for', () => {
    expect(() => fieldsOf({ a: z.number() })).toThrow('Made: its field a does not say what it is (.describe)');
    expect(() => fieldsOf({ a: z.string().meta({ type: 'date' }).describe('Said.') })).toThrow(
      'no TypeScript for the JSON Schema type date',
    );
  });
});

describe('comments', () => {
  const of = (schema: z.ZodType, about: string, key = 'a') =>
    meaning(key, z.toJSONSchema(schema) as never, about, 'input')[0];

  test.each([
    [z.int().nonnegative(), 'Groups.', 'Groups. A whole number, 0 or more.'],
    [z.int().positive(), 'Groups, >= 1.', 'Groups, >= 1. A whole number.'],
    [z.int().gt(2).max(1e6), 'A whole number of groups.', 'A whole number of groups. A whole number, 3 to 1,000,000.'],
    [z.number().gt(0).max(1), 'Part.', 'Part. A number above 0 and at most 1.'],
    [z.number().max(1e9), 'At most 1e9.', 'At most 1e9.'],
    [z.string().max(512), 'Name.', 'Name. At most 512 characters.'],
    [z.array(z.int().min(1)), 'Ranks.', 'Ranks. Each: a whole number, 1 or more.'],
    [z.enum(['x', 'y']), 'Which.', 'Which.'],
  ])('the range, where the text does not say it: %#', (schema, about, expected) => {
    expect(of(schema, about)).toBe(expected);
  });

  test('the unit that the name ends with, where the text does not say it', () => {
    expect(of(z.number(), 'How long.', 'waitSeconds')).toBe('How long. In seconds.');
    expect(of(z.number(), 'Seconds of waiting.', 'waitSeconds')).toBe('Seconds of waiting.');
  });

  test('lines are as wide as the formatter lets them be, and nothing ends the comment early', () => {
    const lines = comment([`${'word '.repeat(40).trim()} */`], '  ');
    expect(lines.every((line) => line.length <= 120)).toBe(true);
    expect(lines.join('\n').indexOf('*/')).toBe(lines.join('\n').length - 2);
  });
});

describe('modules', () => {
  test('names are sorted as the formatter sorts them, and settings are beside each other', () => {
    const judge = { name: 'JudgeOffloadInput', module: 'src/generated/settings/judge-offload.ts' };
    const words = ['RewardWithdrawn', 'RewardsResumed', 'RewardStarted'].map((name) => ({ name, module: 'src/x.ts' }));
    expect(importsOf('src/generated/settings/rollpacker.ts', [...words, judge])).toEqual([
      "import type { RewardStarted, RewardsResumed, RewardWithdrawn } from '../../x.ts';",
      "import type { JudgeOffloadInput } from './judge-offload.ts';",
    ]);
  });

  test('a union of nothing is never', () => {
    expect(unionOf('None', [])).toBe('export type None = never;');
  });
});
