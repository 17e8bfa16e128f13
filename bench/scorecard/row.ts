/** A row of the scorecard: a figure that a paper prints and that the simulator can print, too. */

/** The papers. RollPacker's earlier version, Flexes, prints the same figures. */
export type Paper = 'RollPacker' | 'RolloutPipe' | 'FlexRL';

/** A figure of a paper. Whether it is fitted is declared before anything is fitted, and a test holds the list. */
export interface Row {
  /** Unique: the place in the paper, and what it is of. */
  readonly id: string;
  readonly paper: Paper;
  /** Table, figure or section. */
  readonly where: string;
  readonly what: string;
  /** What the paper prints; of a range its two ends. */
  readonly printed: number | readonly [low: number, high: number];
  /** `fitted`: constants of the simulator were chosen with it in view. `validation`: they were not. */
  readonly use: 'fitted' | 'validation';
  /** Columns beside the one that the row is about: counted apart. */
  readonly isPart?: true;
}

/** How far a value of ours is off, relative to the paper's: 0 inside a range, and beyond it from its nearer end. */
export function errorOf({ printed }: Pick<Row, 'printed'>, ours: number): number {
  if (typeof printed === 'number') return ours / printed - 1;
  const [low, high] = printed;
  if (ours < low) return ours / low - 1;
  return ours > high ? ours / high - 1 : 0;
}
