import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Outcome, survivorsOf } from '../../../bench/mutation/outcomes.ts';
// @ts-expect-error Stryker loads it as it is, without types.
import { strykerPlugins } from '../../../bench/mutation/plugins.mjs';
import { mutationTable, scoreOf } from '../../../bench/mutation/report.ts';
import { codeAt } from '../../../bench/mutation/run.ts';
import { testsOf } from '../../../bench/mutation/tests.ts';
import { registry } from '../../../src/registry.ts';

const outcome = (more: Partial<Outcome> = {}): Outcome => ({
  id: 'adaptive-tp',
  kind: 'policies',
  all: 1000,
  drawn: 100,
  killed: 90,
  byTraceAlone: 7,
  endless: 0,
  survivors: [],
  seconds: 1,
  ...more,
});

describe('the score', () => {
  test('each definition counts for as many mutants as it has', () => {
    const { share } = scoreOf([outcome(), outcome({ id: 'flex-ulysses', kind: 'planners', all: 3000, killed: 50 })]);
    expect(share).toBeCloseTo((1000 * 0.9 + 3000 * 0.5) / 4000, 12);
  });

  test('its interval is that of a draw without repetition, with two more of each; nothing where all were drawn', () => {
    expect(scoreOf([outcome()]).within).toBeCloseTo(1.96 * Math.sqrt((((92 / 104) * (12 / 104)) / 104) * 0.9), 12);
    expect(scoreOf([outcome({ all: 100 })]).within).toBe(0);
  });

  test('the table has a row for each definition, and sums without recipes', () => {
    const recipe = outcome({ id: 'rollpacker', kind: 'recipes', killed: 10 });
    const lines = mutationTable([outcome(), recipe]).split('\n');
    expect(lines.at(-1)).toMatch(/^policies and planners +1,000 +100 +90 +7 +0 +0 +90\.0 ± 5\.8$/);
    expect(lines.some((line) => /^recipes .* 10\.0/.test(line))).toBe(true);
  });
});

test('a survivor is shown by its place, what stood there and what took it', () => {
  const one = {
    file: 'src/a.ts',
    line: 3,
    column: 5,
    mutator: 'X',
    before: 'a\n   < b',
    after: 'true',
    isCovered: false,
  };
  expect(survivorsOf(outcome({ survivors: [one] }))).toBe(
    'adaptive-tp: 1 survived\n  src/a.ts:3:5 a < b → true (no test runs it)',
  );
});

test('code is cut out of its file by line and column, both from one', () => {
  const file = 'bench/mutation/tests.ts';
  const [first = '', second = ''] = readFileSync(file, 'utf8').split('\n');
  const place = { start: { line: 1, column: 5 }, end: { line: 2, column: 6 } };
  expect(codeAt(file, place)).toBe(`${first.slice(4)}\n${second.slice(0, 5)}`);
  expect(codeAt(file, { start: { line: 1, column: 3 }, end: { line: 1, column: 6 } })).toBe(first.slice(2, 5));
});

describe('what is drawn', () => {
  const mutants = Array.from({ length: 50 }, (_, line) => ({
    id: String(line),
    fileName: '/any/where/src/policies/x/x.ts',
    location: { start: { line, column: 1 }, end: { line, column: 2 } },
    mutatorName: 'X',
    replacement: '',
  }));

  async function drawn(size: string, seed: string, of = mutants): Promise<string[]> {
    Object.assign(process.env, { ROLLFLEX_MUTANTS: size, ROLLFLEX_MUTANTS_SEED: seed });
    const sample = strykerPlugins.find(({ name }: { name: string }) => name === 'sample').factory();
    await sample.group(of);
    const results: Record<string, { status: string }> = await sample.check(of);
    return Object.keys(results).filter((id) => results[id]?.status === 'passed');
  }

  test('as many as were asked for, the same for the same seed, wherever the tree lies', async () => {
    const first = await drawn('20', '1');
    expect(first).toHaveLength(20);
    const elsewhere = mutants.map((one) => ({ ...one, fileName: one.fileName.replace('/any', '/an/other') })).reverse();
    expect(new Set(await drawn('20', '1', elsewhere))).toEqual(new Set(first));
    expect(await drawn('20', '2')).not.toEqual(first);
    expect(await drawn('100', '1')).toHaveLength(50);
  });

  test('neither texts nor generators of events', () => {
    const { value } = strykerPlugins.find(({ name }: { name: string }) => name === 'prose');
    const ignored = (node: object): boolean => value.shouldIgnore({ node }) !== undefined;
    const template = (raw: string): object => ({ type: 'TemplateLiteral', quasis: [{ value: { raw } }] });
    expect(ignored({ type: 'StringLiteral', value: 'a new round id' })).toBe(true);
    expect(ignored({ type: 'StringLiteral', value: 'queue_full' })).toBe(false);
    expect(ignored(template('at most '))).toBe(true);
    expect(ignored(template('/'))).toBe(false);
    expect(ignored({ type: 'FunctionDeclaration', id: { name: 'arbitrary' } })).toBe(true);
    expect(ignored({ type: 'FunctionDeclaration', id: { name: 'apply' } })).toBe(false);
  });
});

test('every definition has tests of its own, quick ones first, and what is named beside them is there', () => {
  for (const { id } of [...registry.policies, ...registry.planners]) {
    const files = testsOf(id);
    for (const file of files) expect(existsSync(file), file).toBe(true);
    expect(
      files.some((file) => file.includes(`/unit/`) && file.includes(id)),
      id,
    ).toBe(true);
    const laws = files.findIndex((file) => file.includes('/laws/'));
    expect(files.findLastIndex((file) => file.includes('/unit/'))).toBeLessThan(laws);
    expect(files.at(-1)).toMatch(/golden\.test\.ts$/);
    const property = files.findIndex((file) => file.includes('/property/'));
    expect(property === -1 || property > laws).toBe(true);
  }
});
