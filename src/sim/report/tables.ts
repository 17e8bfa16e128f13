/** The tables of a report: the comparison, and the numbers of the charts for readers who cannot see the charts. */
import type { ComparisonResult, RunResult, SchedulerResult } from '../comparison/result.ts';
import { escapeHtml, number, percent, table, times } from './format.ts';

const shownOf = ({ schedulers, oracle }: ComparisonResult): readonly SchedulerResult[] =>
  oracle === undefined ? schedulers : [...schedulers, oracle];
const lastRow = ({ oracle }: ComparisonResult): string => (oracle === undefined ? '' : 'oracle');

/** Returns the table of schedulers, with speedups and their costs. */
export function comparisonTable(comparison: ComparisonResult): string {
  const columns = [
    'scheduler',
    'step, s',
    'rollout, s',
    'speedup',
    'at equal tokens',
    'of the oracle',
    'kept tokens',
    'at the cap',
    'bubbles',
  ];
  const rows = shownOf(comparison).map((one) => [
    escapeHtml(one.label),
    number(one.stepSeconds.value, 1),
    number(one.rolloutSeconds.value, 1),
    `<b>${times(one.speedup)}</b>`,
    `<b>${times(one.equalTokenSpeedup)}</b>`,
    one.ofOracle === undefined ? '' : percent(one.ofOracle),
    `${number(one.keptTokenRatio)} ×`,
    percent(one.cappedShare),
    percent(one.bubbleRatio),
  ]);
  return table('Comparison', columns, rows, lastRow(comparison));
}

/** Returns the table of the trained data: kept long responses, groups with equal rewards, redraws and staleness. */
export function trainedTable(comparison: ComparisonResult): string {
  const columns = [
    'scheduler',
    'longest 1\u00a0%, same / as long',
    'even groups',
    'drawn again',
    'stale, lag',
    'rounds waited, mean / most',
    'speedup of the rollout',
  ];
  const rows = shownOf(comparison).map((one) => [
    escapeHtml(one.label),
    `${percent(one.longestKeptShare)} / ${percent(one.longestTrainedRatio)}`,
    percent(one.evenGroupShare),
    percent(one.redrawnShare),
    `${percent(one.staleShare)}, ${one.maxLag}`,
    `${number(one.meanQueueAge, 1)} / ${number(one.maxQueueAge, 0)}`,
    times(one.rolloutSpeedup),
  ]);
  return table('What is trained on', columns, rows, lastRow(comparison));
}

function stepTable({ label, runs }: SchedulerResult): string {
  const columns = [
    'step',
    'round',
    'starts, s',
    'rollout, s',
    'reward, s',
    'reference, s',
    'training, s',
    'sync, s',
    'prompts',
    'mean tokens',
    'longest',
    'at the cap',
    'aborted tokens',
    'preemptions',
    'bubbles',
    'in the queue',
  ];
  const rows = runs[0]!.steps.map((step) => [
    `${step.step}`,
    step.kind,
    ...[
      step.startSeconds,
      step.rolloutSeconds,
      step.rewardSeconds,
      step.referenceSeconds,
      step.trainSeconds,
      step.syncSeconds,
    ].map((one) => number(one, 1)),
    ...[step.prompts, step.meanResponseTokens, step.maxResponseTokens, step.cappedResponses].map((one) =>
      number(one, 0),
    ),
    number(step.abortedTokens, 0),
    number(step.preemptions, 0),
    percent(step.bubbleRatio),
    number(step.queueDepth, 0),
  ]);
  return table(`Steps: ${escapeHtml(label)}`, columns, rows);
}

function engineTable({ label, runs }: SchedulerResult): string {
  const rows = runs[0]!.engines.map((engine) => [
    escapeHtml(engine.engineId),
    number(engine.gpus, 0),
    number(engine.busySeconds, 1),
    percent(engine.bubbleRatio),
    number(engine.preemptions, 0),
  ]);
  return table(`Engines: ${escapeHtml(label)}`, ['engine', 'GPUs', 'busy, s', 'bubbles', 'preemptions'], rows);
}

const shownQuantiles = [1, 10, 25, 50, 75, 90, 95, 99, 100];

function lengthTable(schedulers: readonly SchedulerResult[]): string {
  const at = (run: RunResult, share: number): string =>
    number(run.lengthQuantiles[Math.round((share / 100) * (run.lengthQuantiles.length - 1))] ?? 0, 0);
  const rows = schedulers.map((one) => [
    escapeHtml(one.label),
    ...shownQuantiles.map((share) => at(one.runs[0]!, share)),
  ]);
  const columns = ['scheduler', ...shownQuantiles.map((share) => (share === 100 ? 'longest' : `P${share}`))];
  return table('Tokens of the responses trained on', columns, rows);
}

/** Returns the data of the charts as tables. */
export function numbersBehind({ schedulers }: ComparisonResult): string {
  const tables = schedulers.flatMap((one) => [stepTable(one), engineTable(one)]);
  return `<div class="numbers">${lengthTable(schedulers)}
${tables.join('\n')}</div>`;
}
