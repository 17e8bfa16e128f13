/** The comparison as a table on the terminal, within 80 columns, and what it means. */
import Table from 'cli-table3';
import { oneLine } from '../core/printable.ts';
import type { ComparisonResult, Interval } from '../sim/result.ts';
import { headed } from './output.ts';

const fixed = (value: number, digits = 2): string => value.toFixed(digits);
const times = ({ value, low, high }: Interval): string => `${fixed(value)}x\n${fixed(low)}-${fixed(high)}`;
const percent = (share: number): string => {
  if (share === 0) return '0%';
  if (share > 0 && share < 0.00005) return '<0.01%';
  return `${fixed(share * 100, Math.abs(share) < 0.01 ? 2 : 1)}%`;
};

const columns = [
  'scheduler',
  'step s',
  'rollout\ns',
  'speedup',
  'kept\ntokens',
  'at cap',
  'rollout\nspeedup',
  'bubbles',
  'rounds\nwaited',
];
const headLines = 2;
/** Lines between columns and rows would take a third of the width; a rule below the head is enough. */
const chars = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '─',
  'mid-mid': '─',
  right: '',
  'right-mid': '',
  middle: ' ',
};

/** One workload: its lengths, and a row for each scheduler and for the lower bound. */
export function comparisonTable({ workload, schedulers, lowerBound }: ComparisonResult): string {
  const table = new Table({
    head: columns,
    chars,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: columns.map((_, index) => (index === 0 ? 'left' : 'right')),
  });
  for (const one of schedulers) {
    table.push([
      one.label,
      fixed(one.stepSeconds.value, 1),
      fixed(one.rolloutSeconds.value, 1),
      times(one.speedup),
      fixed(one.keptTokenRatio),
      percent(one.cappedShare),
      times(one.rolloutSpeedup),
      percent(one.bubbleRatio),
      `${fixed(one.meanQueueAge, 1)} / ${fixed(one.maxQueueAge, 0)}`,
    ]);
  }
  const steps = schedulers[0]!.runs[0]!.steps.length;
  const bound = [fixed(lowerBound.totalSeconds / steps, 1), '', `${fixed(lowerBound.speedupLimit)}x`, '1.00'];
  table.push(['clairvoyant', ...bound, '', '', '', '']);
  const { p50, p75, p99, max } = workload.quantiles;
  const lengths = `P50 ${Math.round(p50)}, P75 ${Math.round(p75)}, P99 ${Math.round(p99)}, longest ${Math.round(max)} tokens`;
  const lines = table.toString().split('\n');
  const text = [...headed(lines.slice(0, headLines)), ...lines.slice(headLines)].join('\n');
  return `${oneLine(workload.name)}: ${workload.prompts} prompts, ${lengths}\n\n${text}\n`;
}

/** What each rung of a ladder adds to the ones before it. */
export function earnings({ schedulers }: ComparisonResult): string {
  const lines: string[] = [];
  for (const one of schedulers) {
    const before = schedulers.find(({ scheduler }) => scheduler === one.rung?.above);
    if (before === undefined) continue;
    const saved = before.stepSeconds.value - one.stepSeconds.value;
    const share = percent(Math.abs(saved) / schedulers[0]!.stepSeconds.value);
    lines.push(
      `${one.label.padEnd(16)} ${saved < 0 ? 'costs' : 'earns'} ${fixed(Math.abs(saved), 1)} s a step, ${share} of the baseline's`,
    );
  }
  return lines.join('\n');
}

/** What the table says, in sentences; then what a reader must know. */
export function meaning({ schedulers, lowerBound, notes }: ComparisonResult): string {
  const [baseline, ...all] = schedulers;
  // Of a ladder the last rung says it all.
  const others = all.filter((one) => one.rung === undefined || !all.some(({ rung }) => rung?.above === one.scheduler));
  const sentences = others.map((one) => {
    const saved = 1 - 1 / one.speedup.value;
    const verdict = saved > 0.0005 ? `saves ${percent(saved)} of the time` : 'saves no time here';
    return (
      `${one.rung === undefined ? one.label : 'All of it'} ${verdict}: engines idle for ${percent(one.bubbleRatio)} of a rollout instead of ` +
      `${percent(baseline!.bubbleRatio)}.\nWhat it costs: kept tokens ${fixed(one.keptTokenRatio)} of the baseline's, ` +
      `${percent(one.cappedShare)} at the cap instead of ${percent(baseline!.cappedShare)}.`
    );
  });
  const bound =
    `What is left: the clairvoyant bound is ${fixed(lowerBound.speedupLimit)}x, for a scheduler that knows all lengths ` +
    'and trains the same responses as the baseline.';
  return [...sentences, bound, ...notes.map((note) => `- ${note}`)].join('\n');
}
