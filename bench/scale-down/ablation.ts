/**
 * Shows what each part of the projection of gpu-scale-down earns: each is left out in turn, in a copy of the sources, and all families
 * of `families.ts` are played. `npx tsx bench/scale-down/ablation.ts [rounds] [first seed]`, by default 200 and 1,000,000.
 */
import { mean } from '../support.ts';
import { copyWith, type Edit } from './copies.ts';
import { type Kept, measure } from './promise.ts';

/** What is written in place of a part. */
interface LeftOut {
  readonly part: string;
  readonly edits: readonly Edit[];
}

const parts: readonly LeftOut[] = [
  { part: 'the variance of the sum', edits: [['projection.ts', 'mean + deviations * deviation', 'mean']] },
  { part: 'six independent times: one', edits: [['plan.ts', 'independentTimes = 6', 'independentTimes = 1']] },
  { part: 'six independent times: three', edits: [['plan.ts', 'independentTimes = 6', 'independentTimes = 3']] },
  { part: 'six independent times: twelve', edits: [['plan.ts', 'independentTimes = 6', 'independentTimes = 12']] },
  {
    part: 'the chance shared by the engines',
    edits: [['plan.ts', 'keep.length * independentTimes', 'independentTimes']],
  },
  { part: 'every second bin as a time: every eighth', edits: [['projection.ts', 'bin += 2', 'bin += 8']] },
  { part: 'every second bin as a time: each', edits: [['projection.ts', 'bin += 2', 'bin += 1']] },
  {
    part: 'groups of one bin: of four',
    edits: [
      ['projection.ts', 'const bin = binOf(tokens);', 'const bin = binOf(tokens) >> 2;'],
      ['projection.ts', 'binOf(Math.min(tokens, this.#maxTokens))]', 'binOf(Math.min(tokens, this.#maxTokens)) >> 2]'],
    ],
  },
  {
    part: 'at least one more token',
    edits: [['projection.ts', 'Math.min(age + 1, this.#maxTokens)', 'age']],
  },
  { part: 'the most that can be held', edits: [['projection.ts', 'Math.min(all, mean', 'Math.max(0, mean']] },
  { part: 'one request more that never ends', edits: [['projection.ts', 'sum + weight, 1)', 'sum + weight, 1e-9)']] },
  {
    part: 'the largest first: as reported',
    edits: [['plan.ts', 'leaving[b]!.kvTokens - leaving[a]!.kvTokens || a - b', 'a - b']],
  },
  {
    part: 'the most free first: by turns',
    edits: [['plan.ts', 'target.free -= request.kvTokens', 'target.free -= 1e9']],
  },
];

const [rounds = '200', first = '1000000'] = process.argv.slice(2);
/** A row: families in which more than 5 % of rounds go over, and means over all families. */
function print(part: string, kept: ReadonlyMap<string, Kept>): void {
  const all = [...kept.values()];
  const percent = (value: number) => `${(100 * value).toFixed(1)} %`;
  const misses = all.filter(({ over }) => over > 0.05).length;
  const ratio = Math.exp(mean(all.map((one) => Math.log(one.ratio))));
  const cells = [
    misses,
    percent(mean(all.map((one) => one.over))),
    ratio.toFixed(3),
    percent(mean(all.map((one) => one.accepted))),
  ];
  console.log(`| ${[part, ...cells].join(' | ')} |`);
}

console.log('| Left out | Families over 5 % | Rounds over | Projected to real peak | Accepted |');
console.log('| --- | --- | --- | --- | --- |');
for (const [at, one] of [{ part: 'nothing', edits: [] }, ...parts].entries()) {
  print(one.part, await measure(copyWith(`without-${at}`, one.edits), Number(rounds), Number(first)));
}
