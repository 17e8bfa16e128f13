/** Any file of runs against the constants that ship: nothing is fitted, and every run counts that can be predicted. */
import { type Errors, errorsBy, errorsOf, type Predicted, predicted } from './errors.ts';
import { familyOf, groupedBy, type Point, type RefusedLine, readPoints } from './points.ts';

/** The runs of a file. */
export interface Evaluation {
  readonly list: readonly Predicted[];
  /** Lines that cannot be read, or whose model or GPU is not known. */
  readonly refused: readonly RefusedLine[];
  /** Why other runs were left out, once for each. */
  readonly excluded: readonly string[];
}

/** Errors of a file, as `--json` writes them; shares, not percent. */
export interface Summary extends Errors {
  /** Lines that cannot be read, or whose model or GPU is not known. `rows` has neither these nor the next. */
  readonly refused: number;
  /** Lines that can be read, and not be compared. */
  readonly excluded: number;
  readonly byGpu: Readonly<Record<string, Errors>>;
  readonly byEngine: Readonly<Record<string, Errors>>;
  readonly byFamily: Readonly<Record<string, Errors>>;
}

function exclusionOf(point: Point): string | undefined {
  if (point.load.responseTokens === 0) return 'no response';
  if (point.tpotSeconds === undefined && point.ttftSeconds === undefined) return 'neither TPOT nor TTFT';
  return undefined;
}

/** Reads and predicts a file. */
export function evaluate(path: string): Evaluation {
  const { points, refused } = readPoints(path);
  const excluded = points.map(exclusionOf).filter((why) => why !== undefined);
  const list = points.filter((point) => exclusionOf(point) === undefined).map((point) => predicted(point));
  return { list, refused, excluded };
}

/** The errors of a file. */
export const summaryOf = ({ list, refused, excluded }: Evaluation): Summary => ({
  ...errorsOf(list),
  refused: refused.length,
  excluded: excluded.length,
  byGpu: errorsBy(list, ({ point }) => point.gpu.id),
  byEngine: errorsBy(list, ({ point }) => point.engine),
  byFamily: errorsBy(list, ({ point }) => familyOf(point)),
});

/** What was assumed or left out, with the runs that it concerns, as phrases. */
export function notesOf({ list, refused, excluded }: Evaluation): string[] {
  const counted = (all: readonly string[], before: string) =>
    [...groupedBy(all, (one) => one)].map(([why, some]) => `${before}: ${why} (${some.length})`);
  const without = (of: (point: Point) => number | undefined) =>
    list.filter(({ point }) => of(point) === undefined).length;
  const measures = Object.entries({
    TPOT: without((one) => one.tpotSeconds),
    TTFT: without((one) => one.ttftSeconds),
  }).filter(([, count]) => count > 0);
  const assumed = list.flatMap(({ point, fits }) => [
    ...point.assumed,
    ...(fits ? [] : ['weights do not fit: a cache of one request']),
    ...(point.stages === 1 ? [] : ['a step passes the stages of a pipeline one after the other']),
  ]);
  return [
    ...counted(
      refused.map(({ why }) => why),
      'refused',
    ),
    ...counted(excluded, 'excluded'),
    ...measures.map(([name, count]) => `excluded: no ${name}, for ${name} only (${count})`),
    ...counted(assumed, 'assumed'),
  ];
}
