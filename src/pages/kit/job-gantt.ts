/** Draws the rounds of a job, and the work of each engine and worker. */
import { oneLine } from '../../core/ids/printable.ts';
import type { Timeline } from '../../logs/job/job-view.ts';
import type { Round } from '../../logs/job/rounds.ts';
import { measured } from './durations.ts';
import { type GanttBar, ganttChart } from './gantt.ts';
import { timeAxis } from './job-time.ts';

/** What a page draws of a job: bins over time, its rounds, and the gaps in what was followed. */
export interface Drawn {
  readonly timeline: Timeline;
  readonly rounds: readonly Round[];
  readonly missed: readonly { readonly from: number; readonly to: number; readonly events: number }[];
}

const rowHeight = 24;
const shades = 6;

/** Colours by kind of actor. */
export const actorColours: Readonly<Record<string, string>> = {
  engine: 'rollout',
  trainer: 'train',
  'reward worker': 'reward',
  environment: 'reference',
  sandbox: 'reference',
  loader: 'sync',
};

/** The cells of one row; equal neighbours are joined into one bar. */
function loadBars(row: number, load: readonly number[], most: number, { from, width }: Timeline): GanttBar[] {
  const bars: { row: number; start: number; end: number; colour: string; opacity: number; load: number }[] = [];
  for (const [index, value] of load.entries()) {
    const shade = value === 0 ? 0 : Math.max(1, Math.ceil((value / most) * shades));
    if (shade === 0) continue;
    const [start, opacity] = [(from + index) * width, 0.3 + (0.7 * shade) / shades];
    const last = bars.at(-1);
    if (last !== undefined && last.opacity === opacity && Math.abs(last.end - start) < width / 2)
      last.end = start + width;
    else bars.push({ row, start, end: start + width, colour: 'rollout', opacity, load: value });
  }
  return bars;
}

/** Returns the actors; unnamed actors are one row, if there are any. */
const actorsIn = ({ actors }: Timeline): Timeline['actors'] =>
  actors.filter(({ by, load }) => by !== null || load.some((one) => one > 0));
export const ganttHeight = (drawn: Drawn): number =>
  Math.min(900, 40 + rowHeight * (1 + actorsIn(drawn.timeline).length));

/** Draws rounds, and the amount of work per engine and worker. */
export function jobGantt({ timeline, rounds, missed }: Drawn, width: number) {
  const { at } = timeline;
  const actors = actorsIn(timeline);
  const begin = timeline.from * timeline.width;
  const texts: string[] = [];
  const bars: GanttBar[] = [];
  const add = (bar: GanttBar, text: string): void => {
    if (bar.end <= begin) return;
    bars.push({ ...bar, start: Math.max(bar.start, begin) - begin, end: bar.end - begin });
    texts.push(text);
  };
  for (const { id, kind, from, to, end, marks } of rounds) {
    const isOpen = end === undefined && id === rounds.at(-1)!.id;
    const until = end ?? (isOpen ? at : to);
    const name = oneLine(id);
    const length = `${measured(until - from)}${isOpen ? ' so far' : ''}`;
    add(
      { row: 0, start: from, end: until, colour: kind === 'long' ? 'long' : 'short', opacity: 1, gap: 1, name },
      `round ${name}${kind === undefined ? '' : `, ${kind}`}: ${length}`,
    );
    const last = Math.max(until, ...Object.values(marks));
    if (last > until)
      add(
        { row: 0, start: until, end: last, colour: 'train', opacity: 0.5, gap: 1 },
        `round ${name}, after its rollout: ${measured(last - until)}`,
      );
  }
  for (const [row, { who, by, load }] of actors.entries()) {
    const name = oneLine(by === null ? who : `${who} ${by}`);
    const most = Math.max(...actors.filter((one) => one.who === who).flatMap((one) => one.load));
    for (const bar of loadBars(row + 1, load, most, timeline)) {
      const shown = {
        ...bar,
        colour: actorColours[who] ?? 'overhead',
        end: Math.min(bar.end, Math.max(at, bar.start)),
      };
      add(
        shown,
        `${name}: about ${Number((bar as unknown as { load: number }).load.toPrecision(2))} open, for ${measured(bar.end - bar.start)}`,
      );
    }
  }
  for (const { from, to, events } of missed)
    add(
      { row: 0, start: from, end: to, colour: 'overhead', opacity: 0.6, name: 'not followed' },
      `${events} events were not followed: what was open then is not drawn`,
    );
  const span = Math.max(at - begin, timeline.width);
  const left = width < 500 ? 92 : 150;
  const names = actors.map(({ who, by }) => oneLine(by === null ? who : left < 100 ? by : `${who} ${by}`));
  const chart = ganttChart({
    rows: ['rounds', ...names],
    bars,
    lastSeconds: span,
    describe: (index) => texts[index]!,
    left,
  });
  return { ...chart, xAxis: timeAxis(span) };
}
