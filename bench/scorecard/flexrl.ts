/** FlexRL: every figure that it prints in numbers and that the simulator can print. */
import { columns, fittedRows } from '../papers/flexrl.ts';
import { table2, table3, table5 } from '../papers/flexrl-tables.ts';
import type { Row } from './row.ts';

const row = (id: string, where: string, what: string, printed: Row['printed'], use: Row['use']): Row => ({
  id,
  paper: 'FlexRL',
  where,
  what,
  printed,
  use,
});

/** The name of a row of Table 2. */
export const nameOf = ({ id, scheduler, frames }: (typeof table2)[number]): string => `${id} ${scheduler} ${frames}`;

export const flexrlRows: readonly Row[] = [
  row('shadow-alone', 'Table 1', '+ ShadowLoader, step speedup', 5.35, 'validation'),
  row('ulysses-alone', 'Table 1', '+ FlexUlysses, step speedup', 1.17, 'validation'),
  row('both', 'Table 1', 'both, step speedup', 7.66, 'validation'),
  ...table2.flatMap((one) => {
    const name = nameOf(one);
    const use = fittedRows.includes(one.id) ? ('fitted' as const) : ('validation' as const);
    const tokens = (one.throughput * one.step * one.gpus) / one.sequences;
    return columns.map((column): Row => {
      const printed = column === 'tokens' ? tokens : one[column];
      const unit = column === 'tokens' ? 'tokens a sequence' : `${column}, s`;
      const made = row(`${name} ${column}`, 'Table 2', `${name}: ${unit}`, printed, use);
      return column === 'step' ? made : { ...made, isPart: true };
    });
  }),
  ...table3.map(([sequences, ms], index) => {
    const use = index === 0 || index === table3.length - 1 ? 'fitted' : 'validation';
    return row(
      `attention-${sequences}`,
      'Table 3',
      `attention of ${sequences} sequences that make 64K tokens, ms`,
      ms,
      use,
    );
  }),
  ...table5.flatMap(([degree, tokens, h200, h800]) => [
    row(
      `h200-${degree}-${tokens}`,
      'Table 5',
      `all-to-all, degree ${degree}, ${tokens} tokens, H200, ms`,
      h200,
      'fitted',
    ),
    row(
      `h800-${degree}-${tokens}`,
      'Table 5',
      `all-to-all, degree ${degree}, ${tokens} tokens, H800, ms`,
      h800,
      'fitted',
    ),
  ]),
  // Ratios of rows of Table 2: fitted where those are.
  row('over-verl-CR-13', 'Figure 5', 'over veRL, image-heavy, without loading', 7.35, 'fitted'),
  row('over-verl-CR-02', 'Figure 5', 'over veRL, video-heavy, without loading', 5.35, 'validation'),
  row('over-verl-CR-12', 'Figure 5', 'over veRL, only-video, without loading', 8.47, 'fitted'),
];

export const flexrlOutside: readonly (readonly [where: string, why: string])[] = [
  ['Table 1, seconds', 'the table names neither batch nor frames; its ratios are printed with those of CR-13'],
  ['Figures 7 to 9', 'values that are not printed'],
  ['Table 4', 'what methods can do, in words'],
];
