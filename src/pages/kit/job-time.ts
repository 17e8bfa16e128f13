/** Time in charts of a job: seconds before now. */
import { axis, colour } from './chart-style.ts';
import { measured } from './durations.ts';

/** Writes how long ago something was. */
export const ago = (seconds: number): string => (seconds === 0 ? 'now' : `−${measured(seconds)}`);

/** The axis for so many seconds up to now; its values are in the given unit, by default in minutes if the span is long. */
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
