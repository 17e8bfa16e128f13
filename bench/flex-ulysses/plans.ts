/**
 * Shows how good plans of flex-ulysses are, against its bounds, the best known plans and other ways of placing a batch;
 * what they take to make on one core, and what planning again takes, against planning anew. Batches are those of
 * test/support/placement/families.ts.
 */
import { placementFamilies } from '../../test/support/placement/families.ts';
import { knownInstances } from '../../test/support/placement/instances.ts';
import { machine, mean, median } from '../support.ts';
import { besideKnown, efforts, inputsOf, qualities, quantile, replanning, ways } from './study.ts';

const seeds = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;
const line = (...cells: readonly (string | number)[]): void => {
  console.log(cells.map((cell, at) => (at === 0 ? String(cell).padEnd(28) : String(cell).padStart(15))).join(''));
};
const time = (milliseconds: number): string => `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
const spread = (milliseconds: readonly number[]): string =>
  `${time(median(milliseconds))}, ${time(quantile(milliseconds, 0.95))}`;

console.log(machine().replace(/;.*/, '; processor time'));

/** Sequences and devices of the tables, as in the batches of the paper and smaller. */
const sizes = [
  [64, 8],
  [64, 32],
  [128, 64],
  [256, 32],
  [256, 64],
] as const;

console.log(
  '\n-- quality, means; compute ÷ bound, plans over memory, communication and its bound ÷ tokens, median time',
);
for (const family of placementFamilies) {
  const inputs = sizes.flatMap(([sequences, devices]) => inputsOf({ family, sequences, devices, seeds: seeds(3) }));
  for (const { way, balance, overMemory, communication, bound, milliseconds } of qualities(inputs)) {
    const over = `${overMemory}/${inputs.length}`;
    line(`${family} ${way}`, balance.toFixed(3), over, percent(communication), percent(bound), time(milliseconds));
  }
}

console.log(
  '\n-- thirteen known batches: communication ÷ the best known at three tolerances, default | fast, and time',
);
const tolerances = [0.001, 0.01, 0.05] as const;
const logarithms = tolerances.map((): number[] => []);
for (const known of knownInstances) {
  const runs = tolerances.map((tolerance) => ({
    slow: besideKnown(known, tolerance, 'default'),
    fast: besideKnown(known, tolerance, 'fast'),
  }));
  const cells = runs.map(({ slow, fast }) => `${slow.communication.toFixed(3)}|${fast.communication.toFixed(3)}`);
  const over = Math.max(...runs.map(({ slow }) => slow.compute));
  line(known.id, ...cells, over > 1.0005 ? `${over.toFixed(3)} × limit` : '', time(runs[1]!.slow.milliseconds));
  runs.forEach(({ slow }, at) => {
    logarithms[at]!.push(Math.log(slow.communication));
  });
}
line('geometric mean', ...logarithms.map((values) => Math.exp(mean(values)).toFixed(3)));

console.log(
  '\n-- time of a plan, median and 95th percentile: default, fast; communication of fast ÷ default, mean and most',
);
for (const { sequences, devices, each, targets } of [
  { sequences: 256, devices: 128, each: 12, targets: 'targets 50 ms, 300 ms | 10 ms | 1.25' },
  { sequences: 8192, devices: 1024, each: 2, targets: 'targets 2000 ms | 300 ms' },
]) {
  const inputs = placementFamilies.flatMap((family) => inputsOf({ family, sequences, devices, seeds: seeds(each) }));
  efforts(inputs.slice(0, 3));
  const run = efforts(inputs);
  const ratios = `${mean(run.fastCommunication).toFixed(3)}, ${Math.max(...run.fastCommunication).toFixed(3)}`;
  console.log(
    `${sequences} on ${devices} (${inputs.length}): ${spread(run.default)} | ${spread(run.fast)} | ${ratios} (${targets})`,
  );
}

console.log("\n-- beside verl's Karmarkar-Karp: compute ÷ bound, plans over memory, communication ÷ tokens, time");
for (const [name, costs] of [
  ['attention', undefined],
  ["verl's workload", { compute: { perToken: 24_576, perTokenSquared: 1 } }],
] as const) {
  for (const [sequences, devices, each] of [
    [256, 128, 3],
    [8192, 1024, 1],
  ] as const) {
    const inputs = placementFamilies.flatMap((family) => inputsOf({ family, sequences, devices, seeds: seeds(each) }));
    const weighed = costs === undefined ? inputs : inputs.map((input) => ({ ...input, costs }));
    const { default: search, fast, 'karmarkar-karp': baseline } = ways;
    for (const row of qualities(weighed, { default: search!, fast: fast!, 'karmarkar-karp': baseline! })) {
      const over = `${row.overMemory}/${inputs.length}`;
      const cells = [row.balance.toFixed(3), over, percent(row.communication), time(row.milliseconds)];
      line(`${name}, ${devices} ${row.way}`.replace('karmarkar-karp', 'KK'), ...cells);
    }
  }
}

console.log(
  '\n-- planning again from the plan before, ÷ from scratch: median time, compute, communication; sequences moved',
);
for (const [sequences, devices, each] of [
  [256, 128, 4],
  [8192, 1024, 1],
] as const) {
  for (const count of [1, 4, 16]) {
    const runs = placementFamilies.flatMap((family) =>
      replanning({ family, sequences, devices, seeds: seeds(each) }, count),
    );
    const of = (key: keyof (typeof runs)[number]): number => median(runs.map((one) => one[key]));
    const cells = [of('time').toFixed(2), of('compute').toFixed(3), of('communication').toFixed(3), of('moved')];
    line(`${sequences} on ${devices}, ${count} changed`, ...cells);
  }
}
