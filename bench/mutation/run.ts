/** Mutates one definition by Stryker, with the tests that are its own. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { MutantResult } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';
import { traceTitle } from '../../test/support/basics/only.ts';
import type { Draw, Kind, Outcome, Survivor } from './outcomes.ts';

/** What stands at a place of a file. */
export function codeAt(file: string, { start, end }: MutantResult['location']): string {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line);
  // The end first: it may be in the line of the start.
  lines.push((lines.pop() ?? '').slice(0, end.column - 1));
  lines.unshift((lines.shift() ?? '').slice(start.column - 1));
  return lines.join('\n');
}

function survivor({ fileName, location, mutatorName, replacement, status }: MutantResult): Survivor {
  return {
    file: relative(process.cwd(), fileName),
    line: location.start.line,
    column: location.start.column,
    mutator: mutatorName,
    before: codeAt(fileName, location),
    after: replacement ?? '',
    isCovered: status === 'Survived',
  };
}

/** Whether a test is the one that plays the recorded trace: the last one, and a mutant is done with the first that fails. */
const isTrace = (test: string): boolean => test.endsWith(`.jsonl: ${traceTitle}`);

/**
 * With a mutant that throws while `describe` collects tests, none is run: Stryker sees none that failed, and vitest fails.
 */
const isUnloadable = ({ status, testsCompleted }: MutantResult): boolean =>
  status === 'Survived' && testsCompleted === 0;

/** The score of one definition. Throws where its tests fail as they are. */
export async function mutate(kind: Kind, id: string, draw: Draw & { readonly concurrency: number }): Promise<Outcome> {
  const begun = performance.now();
  // For the processes of Stryker: its own options do not reach plugins and tests.
  process.env.ROLLFLEX_ONLY = id;
  process.env.ROLLFLEX_RUNS ??= '0.1';
  process.env.ROLLFLEX_MUTANTS = String(draw.mutants);
  process.env.ROLLFLEX_MUTANTS_SEED = String(draw.seed);
  const results = await new Stryker({
    mutate: [`src/${kind}/${id}/**/*.ts`, '!**/arbitrary.ts'],
    plugins: ['@stryker-mutator/vitest-runner', './bench/mutation/plugins.mjs'],
    ignorers: ['prose'],
    checkers: ['sample'],
    testRunner: 'vitest',
    vitest: { configFile: 'bench/mutation/vitest.config.ts', related: false },
    coverageAnalysis: 'perTest',
    concurrency: draw.concurrency,
    ignorePatterns: ['/docs', '/python', '/dist', '/reports', '/.ci'],
    reporters: process.stderr.isTTY ? ['html', 'progress'] : ['html', 'dots'],
    htmlReporter: { fileName: `reports/mutation/${id}.html` },
    logLevel: 'warn' as never,
    tempDirName: 'reports/mutation/sandbox',
    // Other work on the machine must not look like a loop without end; true ones are seen by the number of hits.
    timeoutMS: 30_000,
    dryRunTimeoutMinutes: 15,
  } as ConstructorParameters<typeof Stryker>[0]).runMutationTest();
  const of = (...statuses: MutantResult['status'][]): MutantResult[] =>
    results.filter(({ status }) => statuses.includes(status));
  const drawn = of('Killed', 'Timeout', 'Survived', 'NoCoverage');
  const survivors = of('Survived', 'NoCoverage').filter((one) => !isUnloadable(one));
  const failed = of('RuntimeError', 'Pending');
  if (failed.length > 0)
    throw new Error(`${id}: ${failed.length} mutants could not be tried: ${failed[0]?.statusReason}`);
  return {
    id,
    kind,
    all: results.length - of('Ignored').length,
    drawn: drawn.length,
    killed: drawn.length - survivors.length,
    byTraceAlone: of('Killed').filter(({ killedBy }) => killedBy?.every(isTrace)).length,
    endless: of('Timeout').length,
    survivors: survivors.map(survivor),
    seconds: (performance.now() - begun) / 1000,
  };
}
