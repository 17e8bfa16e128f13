/**
 * Shows what `prompt-selection` would have passed over of recorded groups, against taking all, GRESO's rule and hindsight. Prints the
 * tables of docs/prompt-selection.md. A trace whose prompts come once, with several responses each, is split into epochs of groups.
 * `npx tsx bench/simulated/selection-replay.ts [--group 2] [--responses 11] [--seeds 50] [trace...]`, by default the trace that is
 * shipped and has rewards. `--responses`: only prompts with so many responses, and of them the first so many.
 */
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readTraceFile } from '../../src/cli/files/traces.ts';
import { added, differs, type Sums, sumsOf, takenOf } from '../../src/sim/advise/selecting.ts';
import type { Interval } from '../../src/sim/comparison/result.ts';
import { bootstrap } from '../../src/sim/comparison/statistics.ts';
import { rowOf, stepOf, type TracePrompt } from '../../src/sim/trace/format.ts';
import { shuffled, uniform } from '../../src/sim/workload/random.ts';

/** What none of the tables says. */
const limits = `
In brackets: 95 % of bootstrap resamples of the prompts. The first group of each prompt is not counted, and what is passed over is not
made up for: rounds would be smaller. The models of these traces did not learn from what a rule took: they learnt from other data (the
checkpoints of a training), or nothing at all. So this says what would have been saved, and not what would have been learnt: passing a
prompt over changes no later group here. Groups that were made of successive responses are smaller than those of a trainer, and differ
more rarely; where a checkpoint gave one response each, a group is of several checkpoints.`;

/** Groups of a step, where a trace has none: its prompts were not recorded in steps. */
const groupsOfStep = 16;

/** A rule: which of the groups, in their order, are taken. */
type Rule = (groups: readonly TracePrompt[], seed: number) => boolean[];

/**
 * GRESO (2506.02177), as in bench/real/selection, without its sizes of rounds: a prompt whose last z groups were all right, or all
 * wrong, is taken with the chance p^z; each p follows a target for the share of such groups.
 */
const greso: Rule = (groups, seed) => {
  const kinds = [
    { p: 0.5, target: (0.25 * 2) / 3, alike: 0 },
    { p: 0.5, target: 0.25 / 3, alike: 0 },
  ];
  const last = new Map<string, { kind: number; times: number }>();
  let observed = 0;
  const endStep = (): void => {
    for (const kind of kinds) {
      const change = kind.alike / observed >= kind.target ? -0.01 : 0.01;
      if (observed > 0) kind.p = Math.min(0.95, Math.max(0.05, kind.p + change));
      kind.alike = 0;
    }
    observed = 0;
  };
  return groups.map((one, index) => {
    if (index > 0 && stepOf(one) !== stepOf(groups[index - 1]!)) endStep();
    const row = rowOf(one);
    const before = last.get(row);
    const chance = before === undefined ? 1 : Math.max(0.01, kinds[before.kind]!.p ** before.times);
    if (uniform(seed, index) >= chance) return false;
    observed += 1;
    const kind = Number(one.responses[0]!.correct);
    if (differs(one)) last.delete(row);
    else {
      last.set(row, { kind, times: before?.kind === kind ? before.times + 1 : 1 });
      kinds[kind]!.alike += 1;
    }
    return true;
  });
};

const selection =
  (lengthExponent: number): Rule =>
  (groups, seed) =>
    takenOf(groups, { lengthExponent, seed });

const usual = '`prompt-selection`, `lengthExponent` 0.5';
/** Those that are compared. */
export const rules: Readonly<Record<string, Rule>> = {
  all: (groups) => groups.map(() => true),
  '`prompt-selection`, `lengthExponent` 0': selection(0),
  [usual]: selection(0.5),
  '`prompt-selection`, `lengthExponent` 1': selection(1),
  GRESO: greso,
  hindsight: (groups) => groups.map(differs),
};

/** The prompts of a trace, each with its successive groups of `size` responses: an epoch has one of each, in an order of the seed. */
export function inGroups(prompts: readonly TracePrompt[], size: number, seed: number): TracePrompt[] {
  const groups: TracePrompt[] = [];
  let step = 0;
  for (let epoch = 0; ; epoch += 1) {
    const some = prompts.filter(({ responses }) => responses.length >= (epoch + 1) * size);
    if (some.length === 0) return groups;
    for (const [place, index] of shuffled(some.length, seed, epoch).entries()) {
      const one = some[index]!;
      if (place % groupsOfStep === 0) step += 1;
      const responses = one.responses.slice(epoch * size, (epoch + 1) * size);
      groups.push({ ...one, row: rowOf(one), prompt: `${rowOf(one)}@${step}`, responses });
    }
  }
}

/** What a rule takes of each prompt, added over seeds, by row. */
function replayed(rule: Rule, groupsOf: (seed: number) => readonly TracePrompt[], seeds: number): Sums[] {
  const byRow = new Map<string, Sums>();
  for (let seed = 1; seed <= seeds; seed += 1) {
    const groups = groupsOf(seed);
    for (const [row, sums] of sumsOf(groups, rule(groups, seed))) {
      const before = byRow.get(row);
      byRow.set(row, before === undefined ? sums : added([before, sums]));
    }
  }
  // Each seed has an order of its own: sorted, a prompt has the same place for each rule.
  return [...byRow].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, sums]) => (sums.groups > 0 ? sums : []));
}

const perToken = ({ takenDiffering, takenTokens }: Sums): number => takenDiffering / Math.max(1, takenTokens);
const gain = (sums: Sums): number => perToken(sums) / (sums.differing / Math.max(1, sums.tokens));
const options = { seed: 1 };
const interval = (cases: readonly Sums[], of: (sums: Sums) => number): Interval =>
  bootstrap(cases, (some) => of(added(some)), options);
const range = ({ value, low, high }: Interval, digits: number, scale = 1): string => {
  const [at, from, to] = [value, low, high].map((one) => (scale * one).toFixed(digits));
  return `${at} (${from} to ${to})`;
};

function print(path: string, size: number, least: number | undefined, seeds: number): void {
  const { trace } = readTraceFile(path);
  if (trace.kind !== 'prompts') throw new Error(`${path}: expected a trace of prompts`);
  const known = trace.prompts
    .filter(({ responses }) => responses.length >= (least ?? 2))
    .map((one) => ({ ...one, responses: one.responses.slice(0, least) }))
    .filter(({ responses }) => responses.every(({ correct }) => correct !== undefined));
  const comesAgain = new Set(known.map(rowOf)).size < known.length;
  const groupsOf = comesAgain ? () => known : (seed: number) => inGroups(known, size, seed);
  const results = Object.entries(rules).map(([name, rule]) => [name, replayed(rule, groupsOf, seeds)] as const);
  const all = added(results[0]![1]);
  const [groups, differing] = [all.groups / seeds, all.differing / seeds];
  console.log(
    `\n${basename(path, '.jsonl')}: ${results[0]![1].length} prompts that come again, in ${groups} further groups, of which`,
  );
  console.log(
    `${differing.toFixed(1)} differ, of ${((all.tokens / all.groups) | 0).toLocaleString('en')} tokens each.`,
  );
  if (!comesAgain) {
    console.log(
      `Its prompts come once: their responses, in their order, were split into successive groups of ${size}, one an epoch,`,
    );
    console.log(`in steps of ${groupsOfStep} groups, in ${seeds} random orders.`);
  }
  console.log('\n| rule | tokens, % | groups that differ, % | groups that differ in 1,000 tokens | ÷ all |');
  console.log('| --- | --- | --- | --- | --- |');
  for (const [name, cases] of results) {
    const cells = [
      range(
        interval(cases, (sums) => sums.takenTokens / Math.max(1, sums.tokens)),
        0,
        100,
      ),
      range(
        interval(cases, (sums) => sums.takenDiffering / Math.max(1, sums.differing)),
        0,
        100,
      ),
      range(interval(cases, perToken), 4, 1000),
      range(interval(cases, gain), 2),
    ];
    console.log(`| ${name} | ${cells.join(' | ')} |`);
  }
  const byName = new Map(results);
  const [ours, theirs] = [byName.get(usual)!, byName.get('GRESO')!];
  const pairs = ours.map((one, at) => ({ ours: one, theirs: theirs[at]! }));
  const ratio = bootstrap(
    pairs,
    (some) => perToken(added(some.map((one) => one.ours))) / perToken(added(some.map((one) => one.theirs))),
    options,
  );
  console.log(`\n${usual} ÷ GRESO, groups that differ a token: ${range(ratio, 2)}.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    options: { group: text, responses: text, seeds: text },
    allowPositionals: true,
  });
  const least = values.responses === undefined ? undefined : Number(values.responses);
  for (const path of positionals.length > 0 ? positionals : ['examples/traces/tau-airline-gpt4o.jsonl'])
    print(path, Number(values.group ?? 2), least, Number(values.seeds ?? 50));
  console.log(limits);
}
