/** What a calibration has found, as text and as JSON. */
import { oneLine } from '../../../core/ids/printable.ts';
import type { CalibratedPoint } from '../../../sim/calibration/on-site.ts';
import { plainTable } from '../../terminal/plain-table.ts';
import type { Calibrated } from './measured.ts';
import { calibrationJson, calibrationText } from './rollouts.ts';

const milliseconds = (seconds: number): string => (1000 * seconds).toFixed(1);
const percent = (factor: number): string => {
  const whole = Math.round(100 * (factor - 1));
  return whole === 0 ? 'as long as in the model' : `${Math.abs(whole)} % ${whole < 0 ? 'less' : 'more'}`;
};

const columns: [string, (one: CalibratedPoint) => string][] = [
  ['running', ({ running }) => running.toFixed(running < 10 ? 1 : 0)],
  ['context', ({ contextTokens }) => contextTokens.toFixed(0)],
  ['measured ms', ({ secondsPerToken }) => milliseconds(secondsPerToken)],
  ['model ms', ({ modelSeconds }) => milliseconds(modelSeconds)],
  ['calibrated ms', ({ calibratedSeconds }) => milliseconds(calibratedSeconds)],
];

/** Returns a calibration as text for a reader; `of` is what gives the costs that are not fitted. */
export function calibratedText(one: Calibrated, from: string, of: 'preset' | 'model'): string {
  if (one.kind === 'rollouts') return calibrationText(one, from, of);
  const { fixed, sequence, prefill } = one.factors;
  return [
    `Calibrated by ${oneLine(from)}: ${one.points.length} ${one.points.length === 1 ? 'point' : 'points'}, for one token of each sequence`,
    plainTable(columns, one.points),
    `Weights and launches take ${percent(fixed)}, what each sequence costs ${percent(sequence)}, prefills ${percent(prefill)}.`,
    ...(one.points.length === 1
      ? ['One point sets the pace; three with different batches say how it changes with them.']
      : []),
    `Training, rewards and weight sync stay those of the ${of}.`,
  ].join('\n');
}

/** Returns a calibration as JSON. */
export function calibratedJson(one: Calibrated, from: string): object {
  if (one.kind === 'rollouts') return calibrationJson(one, from);
  const { job, factors, points } = one;
  return { from, cost: job.cost, factors, points, machine: job.machine };
}
