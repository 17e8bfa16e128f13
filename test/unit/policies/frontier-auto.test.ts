/** `auto` against every fixed width on a few cheap cases; `bench/frontier/width.ts` runs all of them, with 20 seeds. */
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runRounds } from '../../../bench/frontier/loop.ts';
import { autoWidths, fixedWidths, sessionsOf } from '../../../bench/frontier/study.ts';
import { type Case, paperCases, traceCase } from '../../../bench/frontier/work.ts';
import { mean } from '../../support/basics/numbers.ts';
import { scale } from '../../support/basics/runs.ts';

const trace = (name: string): Case =>
  traceCase(fileURLToPath(new URL(`../../../examples/traces/${name}.jsonl`, import.meta.url)));
const task = (name: string): Case => paperCases.find((one) => one.name === name)!;

describe('within 3 % of the best fixed width, in sessions that begin without knowledge', () => {
  const sizes = [
    ['LSAT-AR', 32],
    ['Sci-XW', 32],
    ['Sci-JL', 32],
    ['OlyPhys', 32],
    ['Sci-JL', 64],
  ] as const;
  const all = [
    ...sizes.map(([name, groups]) => ({ one: task(name), name, groups })),
    ...['castillo-qwen2.5-32b-instruct', 'castillo-qwen2.5-7b-instruct-1m'].map((name) => {
      return { one: trace(name), name, groups: 32 };
    }),
  ];
  /** Of each kind of lengths one, the cheapest. */
  const quick = ['LSAT-AR', 'Sci-XW', 'castillo-qwen2.5-32b-instruct'];
  test.each(all.filter(({ name }) => scale >= 1 || quick.includes(name)))('$name, R = $groups', ({ one, groups }) => {
    const sessions = sessionsOf(one, { groups, seeds: 6, rounds: 5 });
    const { means, best } = fixedWidths(one, sessions, groups);
    const auto = autoWidths(one, sessions).flat();
    expect(mean(auto.map((round) => round.seconds)) / means.get(best)!.session).toBeLessThan(1.03);
  });
});

test('the fixed widths of the comparison are those of the policy', () => {
  const { setting, round } = task('OlyPhys');
  const rounds = [round(24, 3, 0), round(24, 3, 1)];
  for (const width of [1, 2, 7, 16, 24]) {
    const through = runRounds(setting, width, rounds, { throughPolicy: true });
    const times = (all: typeof through) => all.map((one) => one.seconds);
    expect(times(runRounds(setting, width, rounds))).toEqual(times(through));
  }
});
