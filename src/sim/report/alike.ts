/** Groups engines that do the same over time: a picture with a row for each of 32 GPUs shows no more than one with four rows. */
import type { EngineResult } from '../result.ts';

/** Engines that do about the same, and the one of them that is shown. */
export interface AlikeEngines {
  readonly shown: EngineResult;
  /** Places among all engines. */
  readonly places: readonly number[];
}

/** Rows of a timeline, at most. */
const mostRows = 4;
/** Moments at which engines are compared. */
const moments = 400;
/** Share of the moments at which two do the same: the strictest that leaves few enough rows. */
const enough = [0.98, 0.95, 0.9, 0.8, 0.6, 0] as const;

/** Returns the activity of an engine at each moment; it is empty for an idle engine, also within a rollout. */
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
  for (const [place, mine] of does.entries()) {
    const group = groups.find(([first]) => sameShare(does[first!]!, mine) >= share);
    if (group === undefined) groups.push([place]);
    else group.push(place);
  }
  return groups;
}

/** Groups engines, in the order of their first ones; the middle one of each group is shown. */
export function alikeEngines(engines: readonly EngineResult[], totalSeconds: number): AlikeEngines[] {
  const does = engines.map((one) => doing(one, totalSeconds));
  let groups: number[][] = [];
  for (const share of enough) {
    groups = grouped(does, share);
    if (groups.length <= mostRows) break;
  }
  return groups.map((places) => {
    const byIdle = [...places].sort((a, b) => engines[a]!.bubbleRatio - engines[b]!.bubbleRatio || a - b);
    return { shown: engines[byIdle[Math.floor((byIdle.length - 1) / 2)]!]!, places };
  });
}
