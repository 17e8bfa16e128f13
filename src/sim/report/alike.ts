/** Groups engines that do the same over time: a picture with 32 rows shows no more than one with four rows. */
import type { EngineResult } from '../comparison/result.ts';

/** Engines with nearly the same activity, of which one is shown. */
export interface AlikeEngines {
  readonly shown: EngineResult;
  /** Indices among all engines. */
  readonly indices: readonly number[];
}

/** Most rows in a timeline. */
const mostRows = 4;
/** Number of times at which engines are compared. */
const moments = 400;
/**
 * Shares of the compared times at which two engines must do the same, strictest first; the first share that leaves few enough
 * rows is used.
 */
const enough = [0.98, 0.95, 0.9, 0.8, 0.6, 0] as const;

/** Returns the activity of an engine at each compared time; empty if the engine is idle, even during a rollout. */
function doing({ timeline }: EngineResult, totalSeconds: number): string[] {
  let at = 0;
  return Array.from({ length: moments }, (_, index) => {
    const now = ((index + 0.5) / moments) * totalSeconds;
    while (at < timeline.length - 1 && timeline[at]!.endSeconds <= now) at += 1;
    const one = timeline[at];
    if (one === undefined || one.startSeconds > now || one.endSeconds <= now) return '';
    return one.activity === 'rollout' && one.running === 0 ? '' : one.activity;
  });
}

const sameShare = (one: readonly string[], other: readonly string[]): number =>
  one.filter((what, index) => what === other[index]).length / moments;

function grouped(does: readonly (readonly string[])[], share: number): number[][] {
  const groups: number[][] = [];
  for (const [index, mine] of does.entries()) {
    const group = groups.find(([first]) => sameShare(does[first!]!, mine) >= share);
    if (group === undefined) groups.push([index]);
    else group.push(index);
  }
  return groups;
}

/** Groups engines, in the order of their first members; the middle engine of each group is shown. */
export function alikeEngines(engines: readonly EngineResult[], totalSeconds: number): AlikeEngines[] {
  const does = engines.map((one) => doing(one, totalSeconds));
  let groups: number[][] = [];
  for (const share of enough) {
    groups = grouped(does, share);
    if (groups.length <= mostRows) break;
  }
  return groups.map((indices) => {
    const byIdle = [...indices].sort((a, b) => engines[a]!.bubbleRatio - engines[b]!.bubbleRatio || a - b);
    return { shown: engines[byIdle[Math.floor((byIdle.length - 1) / 2)]!]!, indices };
  });
}
