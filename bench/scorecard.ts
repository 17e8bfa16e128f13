/**
 * Shows every figure of the papers that the simulator can print, against ours: `npm run scorecard`. Which rows are
 * fitted is declared in bench/scorecard, before anything is fitted; the others are validation, and their shares within
 * 10 and 25 % stand below. `npm run scorecard -- silicon` compares the time model of engines with measured serving runs.
 */
import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { whole } from '../src/cli/terminal/arguments.ts';
import { print } from '../src/cli/terminal/output.ts';
import { plainTable } from '../src/cli/terminal/plain-table.ts';
import { Progress } from '../src/cli/terminal/progress.ts';
import { list } from './only.ts';
import { measures } from './scorecard/measure.ts';
import { writeMeasured } from './scorecard/measured.ts';
import {
  percent,
  printed,
  type Scored,
  scored as scoredRow,
  significant,
  type Tally,
  talliesOf,
  within,
} from './scorecard/report.ts';
import { outside, rows } from './scorecard/rows.ts';
import { siliconCommand } from './scorecard/silicon/command.ts';

const shown = (scored: readonly Scored[]): string =>
  plainTable<Scored>(
    [
      ['where', (one) => one.where],
      ['what', (one) => one.what],
      ['use', (one) => one.use],
      ['paper', (one) => printed(one)],
      ['ours', (one) => significant(one.ours)],
      ['error', (one) => percent(one.error)],
    ],
    scored,
  );

interface Options {
  readonly seeds: number;
  readonly only?: readonly string[];
  readonly json?: string;
  readonly write?: true;
  readonly parts?: true;
}

async function main({ seeds, only, json, parts, write }: Options): Promise<void> {
  if (write && only !== undefined) throw new Error('--write takes all papers, without --only');
  const chosen = rows.filter(({ paper }) => only === undefined || only.includes(paper));
  const measure = measures(Array.from({ length: seeds }, (_, index) => index + 1));
  const progress = new Progress({ text: 'simulating', isQuiet: false });
  const scored: Scored[] = [];
  try {
    for (const row of chosen) {
      progress.text = `simulating ${row.paper}, ${row.where}`;
      scored.push(await progress.step(() => scoredRow(row, measure(row))));
      progress.done = scored.length / chosen.length;
    }
  } finally {
    progress.stop();
  }
  const counted = scored.filter(({ isPart }) => isPart !== true);
  const papers = [...new Set(chosen.map(({ paper }) => paper))];
  for (const paper of papers) {
    print(`${paper}\n\n${shown((parts ? scored : counted).filter((one) => one.paper === paper))}\n`);
    print(`Not simulated:\n${outside[paper].map(([where, why]) => `- ${where}: ${why}`).join('\n')}\n`);
  }
  print(
    plainTable<Tally>(
      [
        ['rows', ({ name }) => name],
        ['within 10%', within(0.1)],
        ['within 25%', within(0.25)],
      ],
      talliesOf(scored),
    ),
  );
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(scored, null, 2)}\n`);
  if (write) writeMeasured(seeds, scored);
}

await new Command('scorecard')
  .description("the papers' figures beside the simulator's: what was fitted, and what holds without")
  .option('--seeds <n>', 'runs of each', whole(1, 1000), 3)
  .option('--only <papers>', 'RollPacker, RolloutPipe, FlexRL', list)
  .option('--parts', 'the stages of FlexRL Table 2 as well')
  .option('--json <file>', 'all rows as JSON, too')
  .option('--write', 'keep the values: docs/reproduction.md is made from them by npm run docs:generate')
  .action(main)
  // An option after the name of a subcommand is its own.
  .enablePositionalOptions()
  .addCommand(siliconCommand)
  .parseAsync();
