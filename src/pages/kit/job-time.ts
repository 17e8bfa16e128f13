/** Time in charts of a job: seconds before now. */
import { axis, colour } from './chart-style.ts';
import { measured } from './durations.ts';

/** How long ago that is. */
export const ago = (seconds: number): string => (seconds === 0 ? 'now' : `−${measured(seconds)}`);

/** The axis of so many seconds up to now; its values are in minutes where that is long, or in the unit that is given. */
export const timeAxis = (span: number, unitSeconds = span >= 600 ? 60 : 1) =>
  axis({
    type: 'value',
    min: 0,
    max: span / unitSeconds,
    splitLine: { show: false },
    axisLabel: {
      color: colour('soft'),
      hideOverlap: true,
      showMaxLabel: false,
      formatter: (value: number) => ago(span - value * unitSeconds),
    },
  });
