/** Causes of rows of FlexRL. */
import { centralized, computeEfficiency, rollout } from '../../../src/sim/vlm-formulas/constants.ts';
import { allToAllErrors, figure6, stepOf } from '../../papers/flexrl.ts';
import { table2, table5 } from '../../papers/flexrl-tables.ts';
import { type Cause, type CauseTest, shown } from './cause.ts';

const rowOf = (id: string, scheduler: string, frames: number) =>
  table2.find((one) => one.id === id && one.scheduler === scheduler && one.frames === frames)!;
const step = (id: string, scheduler: string, frames: number): string => {
  const row = rowOf(id, scheduler, frames);
  return `${id} ${shown(stepOf(row).ours.step)} (${shown(row.step)})`;
};

/** Steps while a constant has another value. */
function changed<T extends Record<K, number>, K extends keyof T & string>(
  of: T,
  key: K,
  by: number,
  show: () => string,
): string {
  const former = of[key];
  Object.assign(of, { [key]: former * by });
  try {
    return show();
  } finally {
    Object.assign(of, { [key]: former });
  }
}

function* allToAlls(): Generator<CauseTest> {
  const ms = (degree: number, tokens: number, gpu: 'h200' | 'h800'): number => {
    const one = table5.find(([p, t]) => p === degree && t === tokens)!;
    return gpu === 'h200' ? one[2] : one[3];
  };
  const error = (degree: number, tokens: number): number =>
    allToAllErrors('h800')[table5.findIndex(([p, t]) => p === degree && t === tokens)]!;
  const cause: Cause = 'contradiction in the paper';
  const [most, half] = [2 ** 20, 2 ** 19];
  yield {
    rows: [`h800-8-${most}`],
    cause,
    changed: 'the tokens sent in two halves, each with the time that the table has for a half',
    became: `${shown(2 * ms(8, half, 'h800'))} ms in the table, where it has ${shown(ms(8, most, 'h800'))} for the whole; ${shown(ms(8, most, 'h800') * (1 + error(8, most)))} here`,
  };
  const quarter = 2 ** 18;
  const between = Math.sqrt(ms(2, quarter / 2, 'h800') * ms(2, quarter * 2, 'h800'));
  yield {
    rows: [`h800-2-${quarter}`],
    cause,
    changed: 'the geometric mean of half and of twice the tokens',
    became: `${shown(between)} ms, where the table has ${shown(ms(2, quarter, 'h800'))}, and ${shown(ms(2, quarter, 'h200'))} on H200 with twice the links; ${shown(ms(2, quarter, 'h800') * (1 + error(2, quarter)))} here`,
  };
}

function* ablation(): Generator<CauseTest> {
  for (const [sequences, frames] of [
    [128, 128],
    [512, 128],
    [256, 64],
    [256, 256],
  ] as const) {
    const ratios = figure6({ sequences, frames });
    yield {
      rows: ['shadow-alone', 'both'],
      cause: 'reading of the paper',
      changed: `${sequences} sequences, ${frames} frames`,
      became: `ShadowLoader ${shown(ratios[0]!.ours)}, both ${shown(ratios[2]!.ours)}`,
    };
  }
}

const only = (scheduler: string) => (): string =>
  [step('CR-03', scheduler, 64), step('CR-12', scheduler, 64), step('CR-15', scheduler, 64)].join(', ');

function* steps(): Generator<CauseTest> {
  const four = 'ulysses-4';
  const rows = [`CR-03 ${four} 64 step`];
  const reference = ['CR-03', 'CR-12', 'CR-15'].map((id) => rowOf(id, four, 64));
  yield {
    rows,
    cause: 'contradiction in the paper',
    changed: "the paper's own reference pass, with the same videos and sequences a GPU",
    became: `${reference.map((one) => `${shown(one.reference)} s with ${one.sequences} sequences`).join(', ')}: twice the batch takes 3.6 times as long once, and 1.9 times once`,
  };
  const unpacking = changed(centralized, 'stageSecondsPerRoot', 0, only(four));
  yield { rows, cause: 'contradiction in the paper', changed: 'unpacking of inputs at no cost', became: unpacking };

  const flexrl = ['CR-03 flexrl 64 step'];
  const fixed = (by: number, show: () => string): string =>
    changed(rollout.fixedSeconds as Record<string, number>, 'mimo-vl-7b', by, show);
  const and = (): string => `${only('flexrl')()}, ${step('CR-01', 'flexrl', 256)}`;
  yield { rows: flexrl, cause: 'not found', changed: 'nothing', became: and() };
  yield {
    rows: flexrl,
    cause: 'not found',
    changed: 'a third of the fixed seconds of a rollout',
    became: fixed(1 / 3, and),
  };

  const large = (): string =>
    [step('CR-04', 'flexrl', 256), step('CR-05', 'flexrl', 64), step('CR-06', 'flexrl', 96)].join(', ');
  const images = ['CR-04 flexrl 256 step'];
  yield { rows: images, cause: 'not found', changed: 'nothing', became: large() };
  const slower = changed(computeEfficiency, 'backbone', 0.5, large);
  yield { rows: images, cause: 'not found', changed: 'matrix products at half the speed', became: slower };
  const visual = changed(rollout, 'secondsPerVisualToken', 2, large);
  yield {
    rows: images,
    cause: 'not found',
    changed: 'a visual token takes twice as long in a rollout',
    became: visual,
  };

  const bucketing = 'verl-bucketing';
  const most = (): string =>
    [
      step('CR-13', bucketing, 128),
      step('CR-01', bucketing, 256),
      step('CR-12', bucketing, 64),
      step('CR-05', bucketing, 64),
    ].join(', ');
  const many = [`CR-13 ${bucketing} 128 step`];
  yield { rows: many, cause: 'not found', changed: 'nothing', became: most() };
  const doubled = changed(centralized, 'stageSecondsPerToken', 2, most);
  yield {
    rows: many,
    cause: 'not found',
    changed: 'a stage waits twice as long for each visual token of the batch',
    became: doubled,
  };
}

export function* flexrlCauses(): Generator<CauseTest> {
  yield* allToAlls();
  yield* steps();
  yield* ablation();
}
