/// <reference lib="dom" />
/** The charts of a job up to the present event, drawn like those of a running job. */

import type { JobWindow } from '../../logs/job/window.ts';
import { ask } from '../kit/api.ts';
import { draw, followLook } from '../kit/draw.ts';
import { byId } from '../kit/elements.ts';
import { ganttHeight, jobGantt } from '../kit/job-gantt.ts';
import { queueLines } from '../kit/job-lines.ts';

const panel = byId<HTMLDetailsElement>('charts');
const linesHeight = 170;

/** Draws the charts if they are open. */
export async function chartsAt(query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
  if (!panel.open) return;
  const found = await ask<JobWindow | null>('job', query, signal);
  const note = byId('charts-note');
  panel.dataset.shown = query.seq;
  for (const id of ['gantt', 'queue']) byId(id).hidden = found === null;
  if (found === null) {
    note.textContent = 'There is no event yet.';
    return;
  }
  const { events, earlier } = found;
  const count = events.toLocaleString('en-US');
  note.textContent = earlier === 0 ? '' : `From the last ${count} events: what was asked for before them is not drawn.`;
  draw(byId('gantt'), ganttHeight(found), (width) => jobGantt(found, width));
  draw(byId('queue'), linesHeight, (width) => queueLines(found, width));
}

/** Requests data when the charts are opened, and redraws them if the window or the colours have changed. */
export function onCharts(opened: () => void): void {
  panel.addEventListener('toggle', opened);
  followLook();
}
