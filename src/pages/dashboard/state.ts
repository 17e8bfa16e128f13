/// <reference lib="dom" />
/** The data that the page has so far: the bins of a timeline come piece by piece. */

import type { Timeline } from '../../logs/job/job-view.ts';
import type { TimelineAnswer } from '../../logs/job/live-answers.ts';

/** Most bins that are kept. */
const mostBins = 240;
const rows = ['engines', 'idle', 'queue', 'events', 'decisions', 'completed', 'tokens'] as const;

/** Returns a timeline extended by new bins; bins that come again replace the earlier ones. */
export function joined(before: Timeline | undefined, now: NonNullable<TimelineAnswer>): Timeline {
  if (before === undefined || before.width !== now.width || now.from > before.to + 1 || now.from < before.from)
    return now;
  const oldBins = now.from - before.from;
  const cut = Math.max(0, oldBins + (now.to - now.from + 1) - mostBins);
  const join = (old: readonly number[], latest: readonly number[]): number[] => {
    // A row that is new had nothing before.
    const padded = old.length === 0 ? Array.from({ length: oldBins }, () => 0) : old.slice(0, oldBins);
    return [...padded, ...latest].slice(cut);
  };
  const actors = now.actors.map(({ who, by, load }) => {
    const old = before.actors.find((one) => one.who === who && one.by === by);
    return { who, by, load: join(old?.load ?? [], load) };
  });
  const sums = Object.fromEntries(rows.map((name) => [name, join(before[name], now[name])]));
  return { ...now, from: before.from + cut, actors, ...sums } as Timeline;
}
