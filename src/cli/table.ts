/** The comparison as a table on the terminal. */
import Table from 'cli-table3';
import type { ComparisonResult, Interval } from '../sim/result.ts';

const fixed = (value: number, digits = 2): string => value.toFixed(digits);
const times = ({ value, low, high }: Interval): string => `${fixed(value)}x (${fixed(low)}-${fixed(high)})`;
const percent = (share: number): string => `${fixed(share * 100, 1)}%`;

/** One workload as a table, with what it means below. */
export function comparisonTable(comparison: ComparisonResult, colour: boolean): string {
  const { workload, schedulers, lowerBound } = comparison;
  const table = new Table({
    head: [
      'scheduler',
      'step s',
      'rollout s',
      'speedup',
      'of the rollout',
      'bubbles',
      'kept tokens',
      'at cap',
      'rounds waited',
    ],
    style: colour ? { head: ['bold'], border: ['grey'] } : { head: [], border: [] },
    colAligns: ['left', ...Array.from({ length: 8 }, () => 'right' as const)],
  });
  for (const one of schedulers) {
    table.push([
      one.label,
      fixed(one.stepSeconds.value, 1),
      fixed(one.rolloutSeconds.value, 1),
      times(one.speedup),
      times(one.rolloutSpeedup),
      percent(one.bubbleRatio),
      fixed(one.keptTokenRatio),
      percent(one.cappedShare),
      `${fixed(one.meanQueueAge, 1)} / ${fixed(one.maxQueueAge, 0)}`,
    ]);
  }
  table.push(['clairvoyant bound', '', '', `${fixed(lowerBound.speedupLimit)}x`, '', '', '1.00', '', '']);
  const { p50, p75, p99, max } = workload.quantiles;
  const lengths = `P50 ${Math.round(p50)}, P75 ${Math.round(p75)}, P99 ${Math.round(p99)}, longest ${Math.round(max)} tokens`;
  return `${workload.name}: ${workload.prompts} prompts, ${lengths}\n${table.toString()}\n${meaning(comparison)}`;
}

function meaning({ schedulers }: ComparisonResult): string {
  const [baseline, ...others] = schedulers;
  return others
    .map((one) => {
      const saved = percent(1 - 1 / one.speedup.value);
      return (
        `${one.label} saves ${saved} of the time: engines idle for ${percent(one.bubbleRatio)} of a rollout instead of ` +
        `${percent(baseline!.bubbleRatio)}. It keeps every prompt, but shorter responses: ${fixed(one.keptTokenRatio)} x the tokens.`
      );
    })
    .join('\n');
}
