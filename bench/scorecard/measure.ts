/** Ours for every row, computed when it is asked for. */
import { type PoolsTaskId, poolsTaskIds } from '../../src/sim/pools/presets.ts';
import { allToAllErrors, attentionErrors, columns, figure5, figure6, stepOf } from '../papers/flexrl.ts';
import { table2, table3, table5 } from '../papers/flexrl-tables.ts';
import { type Figures, figuresOf, type Size, sizes } from '../papers/rolloutpipe.ts';
import { nameOf } from './flexrl.ts';
import { measureRollpacker } from './measure-rollpacker.ts';
import type { Row } from './row.ts';

/** The value of a row. Throws for a row that nobody measures. */
export function measures(seeds: readonly number[]): (row: Row) => number {
  const values = {
    RollPacker: measureRollpacker(seeds),
    RolloutPipe: measureRolloutpipe(seeds),
    FlexRL: measureFlexrl(),
  };
  return ({ paper, id }) => {
    const value = values[paper].get(id);
    if (value === undefined) throw new Error(`${paper} ${id} is not measured`);
    return value();
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function measureRolloutpipe(seeds: readonly number[]): Map<string, () => number> {
  const values = new Map<string, () => number>();
  for (const task of poolsTaskIds) {
    for (const size of sizes) {
      const figures = once(() => figuresOf(task, size, seeds));
      for (const [id, value] of Object.entries(ofRounds(task, size))) values.set(id, () => value(figures()));
    }
    const rounds = once(() => figuresOf(task, 32, seeds).serial.runs.flatMap((run) => run.rounds));
    const sum = (value: (round: ReturnType<typeof rounds>[number]) => number): number =>
      rounds().reduce((all, one) => all + value(one), 0);
    values.set(`length-${task}`, () => sum((one) => one.tokens) / sum((one) => one.responses));
  }
  return values;
}

function ofRounds(task: PoolsTaskId, size: Size): Record<string, (figures: Figures) => number> {
  return {
    [`compute-${task}-${size}-slime`]: ({ serial }) => serial.computeSeconds,
    [`compute-${task}-${size}-cgp`]: ({ cgp }) => cgp.computeSeconds,
    [`compute-${task}-${size}-both`]: ({ both }) => both.computeSeconds,
    [`reduction-${task}-${size}`]: ({ both }) => both.reduction.value,
    [`cgp-share-${task}-${size}`]: ({ cgpShare }) => cgpShare,
    [`fgd-${task}-${size}`]: ({ cgp, both }) => 1 - both.mainSeconds.value / cgp.mainSeconds.value,
    [`waiting-both-${task}-${size}`]: ({ both }) => both.computeWaitingRatio,
    ...(size === 32 ? { [`waiting-${task}`]: ({ serial }: Figures) => serial.startWaitingRatio } : {}),
    ...(size === 96
      ? {
          [`first-${task}-slime`]: ({ serial }: Figures) => serial.firstDispatchSeconds,
          [`first-${task}-cgp`]: ({ cgp }: Figures) => cgp.firstDispatchSeconds,
          [`first-${task}-both`]: ({ both }: Figures) => both.firstDispatchSeconds,
          [`main-${task}-96-cgp`]: ({ cgp }: Figures) => cgp.mainSeconds.value,
          [`main-${task}-96-both`]: ({ both }: Figures) => both.mainSeconds.value,
        }
      : {}),
  };
}

function measureFlexrl(): Map<string, () => number> {
  const values = new Map<string, () => number>();
  for (const row of table2) {
    const step = once(() => stepOf(row).ours);
    for (const column of columns) values.set(`${nameOf(row)} ${column}`, () => step()[column]);
  }
  const attention = once(attentionErrors);
  for (const [index, [sequences, ms]] of table3.entries()) {
    values.set(`attention-${sequences}`, () => ms * (1 + attention()[index]!));
  }
  for (const gpu of ['h200', 'h800'] as const) {
    const errors = once(() => allToAllErrors(gpu));
    table5.forEach(([degree, tokens, h200, h800], index) => {
      const ms = gpu === 'h200' ? h200 : h800;
      values.set(`${gpu}-${degree}-${tokens}`, () => ms * (1 + errors()[index]!));
    });
  }
  const alone = once(figure6);
  for (const [index, id] of ['shadow-alone', 'ulysses-alone', 'both'].entries())
    values.set(id, () => alone()[index]!.ours);
  const ratios = once(figure5);
  for (const [index, id] of ['CR-13', 'CR-02', 'CR-12'].entries())
    values.set(`over-verl-${id}`, () => ratios()[index]!.ours);
  return values;
}
