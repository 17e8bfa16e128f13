/** Time in charts of a job: seconds before now. */
import { axis, colour } from './chart-style.ts';
import { measured } from './durations.ts';

/** Writes how long ago something was. */
export const ago = (seconds: number): string =>
  seconds === 0
    ? 'now'
    : `−${measured(seconds).replace(/\.(\d*?)0+ /, (_, digits: string) => (digits === '' ? ' ' : `.${digits} `))}`;

const [minute, hour, day] = [60, 3600, 86_400];
/** Seconds between two labels: the first of these that makes few enough. */
const steps = [
  ...[0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30],
  ...[1, 2, 5, 10, 20, 30].map((minutes) => minutes * minute),
  ...[1, 2, 4, 6, 12].map((hours) => hours * hour),
];
/** As many labels fit on a narrow page. */
const mostLabels = 4;

/** Returns the places of the labels of an axis, in seconds from its beginning: whole steps before now. */
export function labelsOf(span: number): number[] {
  const step = steps.find((one) => span / one <= mostLabels) ?? day * Math.ceil(span / day / mostLabels);
  return Array.from({ length: Math.floor(span / step) + 1 }, (_, index) => span - index * step).reverse();
}

/** The axis for so many seconds up to now; its values are in the given unit, by default in minutes if the span is long. */
export function timeAxis(span: number, unitSeconds = span >= 600 ? 60 : 1) {
  const customValues = labelsOf(span).map((one) => one / unitSeconds);
  return axis({
    type: 'value',
    min: 0,
    max: span / unitSeconds,
    splitLine: { show: false },
    axisTick: { lineStyle: { color: colour('line') }, customValues },
    axisLabel: {
      color: colour('soft'),
      customValues,
      hideOverlap: true,
      // What is left of a sum is nothing.
      formatter: (value: number) => ago(Number((span - value * unitSeconds).toFixed(3))),
    },
  });
}
