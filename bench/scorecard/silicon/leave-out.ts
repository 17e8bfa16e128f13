/** Errors on runs that the fit did not see: groups are left out in turn, the doubted runs of a group with it. */
import { siliconConstants } from '../../../src/sim/silicon/constants.ts';
import { type Predicted, predicted } from './errors.ts';
import { fitted } from './fit.ts';
import { distinctPoints, fittedPoints, type Point } from './points.ts';

/** Predictions of runs by constants that were fitted without their group. */
export interface LeftOut {
  /** Of the runs that nobody doubts, identical ones once. */
  readonly undoubted: readonly Predicted[];
  /** Of all runs, identical ones once. */
  readonly all: readonly Predicted[];
}

/** Fits once for each group without it, and predicts it. A group of doubted runs alone is in no fit anyway. */
export function leaveOut(points: readonly Point[], groupOf: (point: Point) => string): LeftOut {
  const undoubted: Predicted[] = [];
  const all: Predicted[] = [];
  const known = fittedPoints(points);
  const distinct = distinctPoints(points);
  for (const group of [...new Set(points.map(groupOf))].sort()) {
    const isIn = (point: Point) => groupOf(point) === group;
    const own = known.filter(isIn);
    const rest = known.filter((point) => !isIn(point));
    const constants = own.length === 0 ? siliconConstants : fitted(rest);
    undoubted.push(...own.map((point) => predicted(point, constants)));
    all.push(...distinct.filter(isIn).map((point) => predicted(point, constants)));
  }
  return { undoubted, all };
}
