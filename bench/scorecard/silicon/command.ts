/** `npm run scorecard -- silicon`: the time model of engines against measured serving runs. */
import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { print } from '../../../src/cli/terminal/output.ts';
import { plainTable } from '../../../src/cli/terminal/plain-table.ts';
import { siliconConstants } from '../../../src/sim/silicon/constants.ts';
import { evaluate, notesOf, summaryOf } from './evaluate.ts';
import { fitted, middleOfBounds, namedValues, onBound } from './fit.ts';
import { fittedPoints, readPoints } from './points.ts';
import { errorTable, undoubtedOf } from './report.ts';
import { pointsFile, type Study, study, writeStudy } from './study.ts';

interface Options {
  readonly points?: string;
  readonly json?: string;
  readonly fit?: true;
  readonly write?: true;
}

function showFile(file: string, json: string | undefined): void {
  const found = evaluate(file);
  const summary = summaryOf(found);
  print(errorTable('all', { all: summary }));
  print(errorTable('GPU', summary.byGpu));
  print(errorTable('engine', summary.byEngine));
  print(errorTable('family', summary.byFamily));
  print(`refused: ${summary.refused}, excluded: ${summary.excluded}`);
  for (const note of notesOf(found)) print(`- ${note}`);
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(summary, null, 2)}\n`);
}

function showFit(): void {
  const points = fittedPoints(readPoints(pointsFile).points);
  // From the middle of the bounds, so that the constants that ship have no say.
  const constants = fitted(points, middleOfBounds());
  const shipped = namedValues(siliconConstants);
  const bound = onBound(constants);
  print(
    plainTable<[string, number]>(
      [
        ['constant', ([name]) => name],
        ['fitted', ([, value]) => value.toPrecision(4)],
        ['ships', ([name]) => shipped[name]!.toPrecision(4)],
        ['', ([name]) => (bound.includes(name) ? 'on its bound' : '')],
      ],
      Object.entries(namedValues(constants)),
    ),
  );
}

function showStudy({ shipped, leftOut, byConfiguration }: Study): void {
  print('\nEach (family, GPU, engine) left out in turn, without doubted runs\n');
  print(errorTable('left out', undoubtedOf(byConfiguration)));
  print(
    errorTable('all of them', {
      'in the fit': shipped.undoubted!,
      ...undoubtedOf(
        Object.fromEntries(Object.entries(leftOut).map(([name, both]) => [`each ${name} left out`, both])),
      ),
    }),
  );
}

function main({ points, json, fit, write }: Options): void {
  if (points !== undefined && (fit || write)) throw new Error('--points fits nothing: without --fit and --write');
  showFile(points ?? pointsFile, json);
  if (fit) showFit();
  if (!fit && !write) return;
  const made = study();
  showStudy(made);
  if (write) writeStudy(made);
}

/** The command. */
export const siliconCommand = new Command('silicon')
  .description('the time model of engines against measured serving runs, by the constants that ship')
  .option('--points <file>', 'runs, with the columns of bench/scorecard/silicon/points.csv, which is the default')
  .option('--json <file>', 'the errors as JSON, too')
  .option('--fit', 'fit the constants anew, and leave each configuration, family and GPU out in turn (five minutes)')
  .option('--write', 'keep the study: docs/silicon.md is made from it by npm run docs:generate')
  .action(main);
