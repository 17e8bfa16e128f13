/**
 * Shows seconds of a round with the frontier width `auto`, against the best fixed width: the four tasks of RolloutPipe
 * §5.1 and recorded traces (the bundled ones, or those that are named), R = 32, 64 and 96 groups, 20 seeds, sessions of
 * eight rounds that begin without knowledge; the same rounds for every width.
 * `npx tsx bench/frontier/width.ts [--groups 32,64,96] [--seeds 20] [--rounds 8] [--synthetic] [trace.jsonl …]`
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { mean } from '../support.ts';
import { autoWidths, fixedWidths, sessionsOf } from './study.ts';
import { syntheticCases } from './synthetic.ts';
import { type Case, paperCases, traceCase } from './work.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    groups: { type: 'string', default: '32,64,96' },
    seeds: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '8' },
    synthetic: { type: 'boolean', default: false },
  },
});
const [seeds, rounds] = [Number(values.seeds), Number(values.rounds)];
const bundled = ['castillo-qwen2.5-7b-instruct-1m', 'castillo-qwen2.5-32b-instruct'].map((name) =>
  fileURLToPath(new URL(`../../examples/traces/${name}.jsonl`, import.meta.url)),
);
const traces = positionals.length > 0 ? positionals : bundled;
const recorded = values.synthetic ? [] : [...paperCases, ...traces.map(traceCase)];

const percent = (ratio: number): string => `${((ratio - 1) * 100).toFixed(1)} %`.padStart(8);
const within = (ratios: readonly number[]): string =>
  `mean ${percent(mean(ratios))}, worst ${percent(Math.max(...ratios))}, within 3 %: ${ratios.filter((one) => one <= 1.03).length} of ${ratios.length}`;

for (const groups of values.groups.split(',').map(Number)) {
  const cases: readonly Case[] = values.synthetic ? syntheticCases(groups) : recorded;
  const [sessionLosses, firstLosses]: [number[], number[]] = [[], []];
  console.log(
    `R = ${groups}`.padEnd(38),
    'best F_w  s a round  auto: session  first round  no frontier  its widths, seed 1',
  );
  for (const one of cases) {
    const sessions = sessionsOf(one, { groups, seeds, rounds });
    const { means, best } = fixedWidths(one, sessions, groups);
    const auto = autoWidths(one, sessions);
    const fixed = means.get(best)!;
    const session = mean(auto.flat().map((round) => round.seconds)) / fixed.session;
    const first = mean(auto.map((all) => all[0]!.seconds)) / fixed.first;
    const wide = means.get(groups);
    sessionLosses.push(session);
    firstLosses.push(first);
    const cells = [
      String(best).padStart(8),
      fixed.session.toFixed(0).padStart(10),
      percent(session).padStart(14),
      percent(first).padStart(12),
      (wide === undefined ? '> 6 %' : percent(wide.session / fixed.session)).padStart(12),
      `  ${auto[0]!.map((round) => round.width).join(' ')}`,
    ];
    console.log(one.name.padEnd(38), cells.join(' '));
  }
  console.log(`sessions: ${within(sessionLosses)}`);
  console.log(`first rounds: ${within(firstLosses)}\n`);
}
