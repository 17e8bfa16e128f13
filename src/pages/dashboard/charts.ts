/** The charts that only the page of a running job has: rates, and single requests. */
import { oneLine } from '../../core/ids/printable.ts';
import type { RequestBar } from '../../logs/job/job-view.ts';
import { measured } from '../kit/durations.ts';
import { ganttChart } from '../kit/gantt.ts';
import { actorColours, type Drawn } from '../kit/job-gantt.ts';
import { linesChart } from '../kit/job-lines.ts';
import { timeAxis } from '../kit/job-time.ts';

/** Draws events and the rest by the second. */
export const rateLines = (drawn: Drawn, width: number) =>
  linesChart(
    drawn,
    [
      { name: 'events/s', values: drawn.timeline.events, colour: 'accent' },
      { name: 'decisions/s', values: drawn.timeline.decisions, colour: 'train', dash: 'dashed' },
      { name: 'responses/s', values: drawn.timeline.completed, colour: 'reward', dash: 'dotted' },
    ],
    width,
  );

const requestHeight = 15;
export const requestsHeight = (bars: readonly RequestBar[]): number => 40 + requestHeight * Math.max(1, bars.length);

/** Draws single requests, one per row. */
export function requestsGantt(bars: readonly RequestBar[], at: number, width: number) {
  const begin = Math.min(at, ...bars.map(({ from }) => from));
  const span = Math.max(at - begin, 0.001);
  const left = width < 500 ? 92 : 190;
  const chart = ganttChart({
    rows: bars.map(({ id }) => oneLine(id)),
    left,
    lastSeconds: span,
    bars: bars.map(({ from, to = at, ended, actor }, row) => {
      const who = Object.keys(actorColours).find((one) => actor.startsWith(one)) ?? '';
      const isLost = ended === undefined || /failed|lost/.test(ended);
      const kind = isLost && to < at ? 'overhead' : (actorColours[who] ?? 'overhead');
      return { row, start: from - begin, end: to - begin, colour: kind, opacity: ended === undefined ? 1 : 0.6 };
    }),
    describe: (index) => {
      const { id, type, actor, from, to, ended } = bars[index]!;
      const until = to === undefined ? 'goes on' : (ended ?? 'replaced by another, or given up');
      return `${oneLine(id)}\n${type}, ${oneLine(actor)}\n${measured((to ?? at) - from)}: ${until}`;
    },
  });
  return { ...chart, xAxis: timeAxis(span) };
}
