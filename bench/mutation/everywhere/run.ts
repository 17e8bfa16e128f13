/** How many of the drawn mutants the tests of `npm test` see, all together: `npm run mutation -- --everywhere <clone>`. */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type Column, fixed, plainTable } from '../../../src/cli/terminal/plain-table.ts';
import { type Draw, inOneLine } from '../outcomes.ts';
import { areas, draw, type Mutant, sources } from './draw.ts';
import { linesOf, type Pair, type Result, runPairs } from './pairs.ts';
import { plant } from './plant.ts';

const isTest = (name: string): boolean => name.endsWith('.test.ts') && !name.endsWith('.whole.test.ts');
const words = (path: string): string[] =>
  path
    .replace(/^(src|test)\//, '')
    .replace(/(\.test)?\.ts$/, '')
    .split(/[/.-]/);

const slices = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
const appending = (file: string) => (result: Result) => appendFileSync(file, `${JSON.stringify(result)}\n`);

/** What each test file takes and reaches, and which of its tests fail as they are: all files once, without a mutant. */
async function record(copy: string) {
  const [file, reached] = [join(copy, '.cache/record.jsonl'), join(copy, '.cache/reached')];
  const tests = readdirSync(join(copy, 'test'), { recursive: true, encoding: 'utf8' }).filter(isTest).sort();
  const known = new Set(linesOf<Result>(file).map((one) => one.file));
  const left = tests.map((name) => ({ id: '', file: `test/${name}` })).filter((one) => !known.has(one.file));
  for (const some of slices(left, 50))
    await runPairs(copy, some, { until: 'all', limit: () => 900_000, reached }, appending(file));
  const recorded = linesOf<Result>(file);
  const cost = new Map(recorded.map((one) => [one.file, one.ms]));
  const broken = recorded.flatMap(({ file: test, failed = [] }) =>
    failed.map((name) => `${test} ${name.split(' > ').at(-1)}`),
  );
  const by = new Map<string, Set<string>>();
  const loading = new Set<string>();
  for (const line of readFileSync(reached, 'utf8').split('\n').slice(0, -1)) {
    const [id = '', phase, test = ''] = line.split(' ');
    by.set(id, (by.get(id) ?? new Set()).add(test));
    if (phase === 'load') loading.add(id);
  }
  return { cost, broken, by, loading };
}

/**
 * Draws mutants of a clone, or finds those that were drawn of another clone for the same options, and runs the test files that
 * reach each of them, the cheap ones first, until one fails. Results are kept in `reports/mutation/everywhere`, and not repeated.
 */
export async function everywhere(clone: string, { mutants: each, seed }: Draw): Promise<string> {
  const folder = join('reports/mutation/everywhere', `${each}-${seed}`);
  const copy = resolve(folder, basename(resolve(clone)));
  const [list, results] = [join(folder, 'mutants.json'), `${copy}.jsonl`];
  mkdirSync(folder, { recursive: true });
  if (!existsSync(list)) writeFileSync(list, JSON.stringify(await draw(sources(clone), each, seed), null, 1));
  const mutants = JSON.parse(readFileSync(list, 'utf8')) as Mutant[];
  if (!existsSync(copy)) await plant(clone, copy, mutants);
  const { cost, broken, by, loading } = await record(copy);
  const costOf = (file: string): number => cost.get(file) ?? 0;
  const candidates = (one: Mutant): Pair[] => {
    // What runs as a module loads runs once, for all test files of a process: any of them may depend on it.
    const files = [...(loading.has(one.id) ? cost.keys() : (by.get(one.id) ?? []))];
    const named = (file: string): number => words(file).filter((word) => words(one.file).includes(word)).length;
    const rank = (file: string): number => (costOf(file) + 150) / 3 ** named(file);
    return files.sort((a, b) => rank(a) - rank(b)).map((file) => ({ id: one.id, file }));
  };
  const run = { until: 'first', limit: (file: string) => 90_000 + 10 * costOf(file), broken } as const;
  const isLoading = ({ id }: Mutant): boolean => loading.has(id);
  const together = slices(
    mutants.filter((one) => !isLoading(one)),
    10,
  );
  const alone = slices(mutants.filter(isLoading), 1);
  for (const most of [1000, 5000, Number.POSITIVE_INFINITY]) {
    const known = linesOf<Result>(results);
    const dead = new Set(known.filter(({ killed }) => killed).map(({ id }) => id));
    const tried = new Set(known.map(({ id, file }) => `${id} ${file}`));
    const isLeft = ({ id, file }: Pair) => !dead.has(id) && !tried.has(`${id} ${file}`) && costOf(file) < most;
    for (const some of [...together, ...alone])
      await runPairs(copy, some.flatMap(candidates).filter(isLeft), run, appending(results));
  }
  return table(mutants, linesOf<Result>(results));
}

interface Row {
  readonly area: string;
  readonly drawn: number;
  readonly killed: number;
}
const columns: readonly Column<Row>[] = [
  ['area', ({ area }) => area],
  ['drawn', ({ drawn }) => String(drawn)],
  ['killed', ({ killed }) => String(killed)],
  ['score, %', ({ drawn, killed }) => fixed((killed / drawn) * 100)],
];

function table(mutants: readonly Mutant[], results: readonly Result[]): string {
  const dead = new Set(results.filter(({ killed }) => killed).map(({ id }) => id));
  const row = (area: string, of: readonly Mutant[]): Row => ({
    area,
    drawn: of.length,
    killed: of.filter(({ id }) => dead.has(id)).length,
  });
  const rows = Object.keys(areas).map((area) =>
    row(
      area,
      mutants.filter((one) => one.area === area),
    ),
  );
  const survivors = mutants.filter(({ id }) => !dead.has(id));
  const lines = survivors.map(
    ({ id, file, line, before, after }) => `  ${id} ${file}:${line} ${inOneLine(before)} → ${inOneLine(after)}`,
  );
  return [`${survivors.length} survived`, ...lines, plainTable(columns, [...rows, row('all', mutants)])].join('\n');
}
