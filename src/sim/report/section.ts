/** The panel of a report on one workload: findings, table, charts, and the numbers of the charts. */
import type { ComparisonResult, SchedulerResult } from '../comparison/result.ts';
import { bestOf, shippedBeside } from './best.ts';
import { equalText, fasterText, pageSigns } from './faster.ts';
import { escapeHtml, number, percent } from './format.ts';
import { type Findings, type Fold, figure, legendOf, noFindings, noteList, type Panel } from './panels.ts';
import { comparisonTable, numbersBehind, trainedTable } from './tables.ts';

/** A variant of an ablation has the mechanisms of all variants below it. */
const nameOf = ({ variant, label }: SchedulerResult): string =>
  variant === undefined ? label : `${variant.ablation} up to ${variant.adds}`;

function findings({ schedulers, oracle }: ComparisonResult): Findings {
  const [baseline] = schedulers;
  const best = bestOf(schedulers);
  if (baseline === undefined || best === undefined) return noFindings;
  const label = escapeHtml(nameOf(best));
  const sentence = (one: SchedulerResult): string =>
    `${escapeHtml(nameOf(one))}: ${fasterText(one.speedup, pageSigns)}, ${equalText(one.equalTokenSpeedup, pageSigns)}.`;
  const shipped = shippedBeside(best, schedulers);
  const verdict = `${sentence(best)}${shipped === undefined ? '' : ` Beside it ${sentence(shipped)}`}`;
  const text = `<p><b>Why.</b> A synchronous step waits for its longest response. With ${escapeHtml(baseline.label)} scheduling the engines have
nothing to run for ${percent(baseline.bubbleRatio)} of each rollout; with ${label} for ${percent(best.bubbleRatio)}. The rollout
takes ${number(best.rolloutSeconds.value, 1)} s a step instead of ${number(baseline.rolloutSeconds.value, 1)} s.</p>
<p><b>What it costs.</b> Every prompt is trained on, but not every response: the mean kept response has
${number(best.keptTokenRatio)} × the tokens, and ${percent(best.cappedShare)} of kept responses run into the length cap, instead
of ${percent(baseline.cappedShare)}. Of the longest 1 % of the responses ${percent(best.longestKeptShare)} are trained on; with those that are
drawn again, ${percent(best.longestTrainedRatio)} as many as long. In seconds for a kept token it is
${number(best.equalTokenSpeedup.value)} × as fast. Deferred prompts wait ${number(best.meanQueueAge, 1)} rounds on average,
${number(best.maxQueueAge, 0)} at most.</p>
${left(oracle, best.ofOracle, label)}`;
  return { verdict, text };
}

function left(oracle: SchedulerResult | undefined, ofOracle: number | undefined, label: string): string {
  if (oracle === undefined || ofOracle === undefined) return '';
  return `<p><b>What is left.</b> An oracle that knows all lengths is ${number(oracle.equalTokenSpeedup.value)} × as fast, with every response
kept; ${label} reaches ${percent(ofOracle)} of that at equal tokens.</p>`;
}

/** The legend of a timeline: colours of the style sheet, each with a text. */
export const timelineColours = [
  ['rollout', 'rollout (stronger with more running sequences)'],
  ['reward', 'rewards'],
  ['reference', 'reference model and log-probabilities'],
  ['train', 'training'],
  ['sync', 'weight sync'],
  ['overhead', 'fixed overhead'],
  ['bubble', 'gap: nothing to run'],
  ['short', 'short round'],
  ['long', 'long round'],
] as const;

/** Returns the costs of a speedup with their numbers. */
function costs({ schedulers, oracle }: ComparisonResult, best: SchedulerResult): string {
  const baseline = schedulers[0]!;
  const stale = best.maxLag === 0 ? 'none' : `${percent(best.staleShare)}, up to ${best.maxLag} behind`;
  const rows: [string, string][] = [
    ['speedup at equal tokens', `${number(best.equalTokenSpeedup.value)} ×`],
    ['kept tokens, of the baseline’s', `${number(best.keptTokenRatio)} ×`],
    ['of the longest 1\u00a0% of responses, trained on', percent(best.longestKeptShare)],
    ['as long as those, drawn again or not', `${percent(best.longestTrainedRatio)} as many`],
    ['at the length cap', `${percent(best.cappedShare)} (baseline ${percent(baseline.cappedShare)})`],
    ['stale tokens', stale],
    ['rounds that a deferred prompt waits', `${number(best.meanQueueAge, 1)}, at most ${number(best.maxQueueAge, 0)}`],
    ...(oracle === undefined
      ? []
      : [['what an oracle reaches', `${number(oracle.equalTokenSpeedup.value)} ×`] as [string, string]]),
  ];
  return `<div class="costs"><h3>What it costs</h3><dl>${rows.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join('')}</dl></div>`;
}

/** Returns the visible content: both runs on one axis, the steps between their times, and the costs. */
function argument(comparison: ComparisonResult, workload: number): string {
  const best = bestOf(comparison.schedulers);
  const [baseline] = comparison.schedulers;
  const colours = legendOf(timelineColours);
  if (baseline === undefined || best === undefined) return '';
  const title = `Before and after: ${escapeHtml(baseline.label)} and ${escapeHtml(nameOf(best))}`;
  const way = 'Seconds of a step, and what each mechanism takes off';
  return `<div class="argument">${figure({ chart: 'argument', workload, title, hint: 'the same prompts on one axis; in a row, one GPU stands for all that do about the same; two rows of each run here, all below', legend: colours })}
<div class="sides">${figure({ chart: 'waterfall', workload, title: way })}${costs(comparison, best)}</div></div>`;
}

function facts({ workload, settings }: ComparisonResult): string {
  const { p50, p75, p90, p99, max } = workload.quantiles;
  const tokens = [
    ['mean', workload.meanTokens],
    ['P50', p50],
    ['P75', p75],
    ['P90', p90],
    ['P99', p99],
    ['longest', max],
  ] as const;
  const all: [string, string | number][] = [
    ...Object.entries(settings),
    ['source', workload.source],
    ['prompts', number(workload.prompts, 0)],
    ['responses', workload.resampling],
    ['within-prompt correlation', number(workload.correlation)],
    ['length cap', `${number(workload.capTokens, 0)} tokens`],
    ['simulated responses', `${tokens.map(([name, value]) => `${name} ${number(value, 0)}`).join(', ')} tokens`],
  ];
  return all.map(([key, value]) => `<li><b>${escapeHtml(key)}</b> ${escapeHtml(value)}</li>`).join('');
}

/** Returns the panel of one workload; `index` is its index in the data of the charts. */
export function section(comparison: ComparisonResult, index: number): Panel {
  const { workload, schedulers, notes } = comparison;
  const [baseline] = schedulers;
  const confidence = Math.round((baseline?.speedup.confidence ?? 0.95) * 100);
  const best = bestOf(schedulers) ?? baseline;
  const colours = legendOf(timelineColours);
  const timelines = schedulers.map((one, run) =>
    figure({
      chart: 'timeline',
      workload: index,
      run,
      title: `Every GPU over time: ${escapeHtml(one.label)}`,
      legend: colours,
    }),
  );
  const { verdict, text } = findings(comparison);
  const charts = `${figure({
    chart: 'steps',
    workload: index,
    title: 'Seconds of each step',
    hint: `left, pale: ${escapeHtml(baseline?.label)}; right: ${escapeHtml(best?.label)}; shaded: its long rounds`,
  })}
<div class="grid">${figure({ chart: 'lengths', workload: index, title: 'Lengths of trained responses', hint: 'share of responses that are longer' })}
${figure({ chart: 'queue', workload: index, title: 'Prompts in the long-prompt queue', hint: 'when each step ends' })}</div>`;
  const folds: Fold[] = [
    { title: 'Why, and what is left', body: text },
    {
      title: 'Every scheduler in numbers',
      body: `${comparisonTable(comparison)}
${trainedTable(comparison)}
<p class="note">Small figures are ${confidence} % bootstrap intervals over seeds. The oracle is the same simulator under a scheduler that
knows all lengths and keeps every response.</p>`,
    },
    {
      title: 'Every scheduler over time',
      body: `<p class="note">All on one scale, of the first seed; GPUs that do about the same share a row. Drag the bar below a chart to zoom,
or Ctrl and the wheel: all zoom together.</p>\n${timelines.join('\n')}`,
    },
    { title: 'Steps, lengths and the queue', body: charts },
    { title: 'The numbers behind the charts, as tables', body: numbersBehind(comparison) },
    {
      title: 'Settings, workload and notes',
      body: `<ul class="facts">${facts(comparison)}</ul>
${noteList(notes)}`,
    },
  ];
  const title = escapeHtml(workload.name);
  return {
    title,
    tab: title,
    verdict,
    argument: argument(comparison, index),
    folds: folds.filter(({ body }) => body !== ''),
  };
}
