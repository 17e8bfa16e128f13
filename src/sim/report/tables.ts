/** The tables of a report: the comparison, and the numbers behind the charts for readers who cannot see those. */
import type { ComparisonResult, RunResult, SchedulerResult } from '../result.ts';
import { escapeHtml, number, percent, table, times } from './format.ts';

/** Schedulers side by side: what a speedup costs stands beside it. */
export function comparisonTable({ schedulers, lowerBound }: ComparisonResult): string {
  const columns = [
    'scheduler',
    'step, s',
    'rollout, s',
    'speedup',
    'kept tokens',
    'at the cap',
    'speedup of the rollout',
    'bubbles',
    'rounds waited, mean / most',
  ];
  const rows = schedulers.map((one) => [
    escapeHtml(one.label),
    number(one.stepSeconds.value, 1),
    number(one.rolloutSeconds.value, 1),
    `<b>${times(one.speedup)}</b>`,
    `${number(one.keptTokenRatio)} ×`,
    percent(one.cappedShare),
    times(one.rolloutSpeedup),
    percent(one.bubbleRatio),
    `${number(one.meanQueueAge, 1)} / ${number(one.maxQueueAge, 0)}`,
  ]);
  const steps = schedulers[0]?.runs[0]?.steps.length ?? 0;
  const boundStep = steps === 0 ? '' : number(lowerBound.totalSeconds / steps, 1);
  rows.push([
    'clairvoyant lower bound',
    boundStep,
    '',
    `${number(lowerBound.speedupLimit)} ×`,
    '1.00 ×',
    '',
    '',
    '',
    '',
  ]);
  return table('Comparison', columns, rows, 'bound');
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

/** All that the charts show, as tables. */
export function numbersBehind({ schedulers }: ComparisonResult): string {
  const tables = schedulers.flatMap((one) => [stepTable(one), engineTable(one)]);
  return `<details class="numbers"><summary>The numbers behind the charts, as tables</summary>
${lengthTable(schedulers)}
${tables.join('\n')}
</details>`;
}
