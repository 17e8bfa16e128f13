/** One workload in a report: what was found, the table, the charts, and all that is behind them. */
import type { ComparisonResult } from '../result.ts';
import { escapeHtml, number, percent } from './format.ts';
import { type Findings, noFindings, type Part } from './parts.ts';
import { comparisonTable, numbersBehind } from './tables.ts';

/** What is less than this share of the time counts as nothing. */
const nothing = 0.0005;

function findings({ schedulers, lowerBound }: ComparisonResult): Findings {
  const [baseline, ...others] = schedulers;
  const best = [...others].sort((a, b) => b.speedup.value - a.speedup.value)[0];
  if (baseline === undefined || best === undefined) return noFindings;
  // A rung of a ladder stands on all rungs below it.
  const label = escapeHtml(best.rung === undefined ? best.label : `${best.rung.ladder} up to ${best.rung.adds}`);
  const saved = 1 - 1 / best.speedup.value;
  const verdict =
    saved > nothing
      ? `${label} would save ${percent(saved)} of the time: ${number(best.speedup.value)} × as fast.`
      : `${label} would not save time here: ${number(best.speedup.value)} × as fast.`;
  const text = `<p><b>Why.</b> A synchronous step waits for its longest response. With ${escapeHtml(baseline.label)} scheduling the engines have
nothing to run for ${percent(baseline.bubbleRatio)} of each rollout; with ${label} for ${percent(best.bubbleRatio)}. The rollout
takes ${number(best.rolloutSeconds.value, 1)} s a step instead of ${number(baseline.rolloutSeconds.value, 1)} s.</p>
<p><b>What it costs.</b> Every prompt is trained on, but not every response: the mean kept response has
${number(best.keptTokenRatio)} × the tokens, and ${percent(best.cappedShare)} of kept responses run into the length cap, instead
of ${percent(baseline.cappedShare)}. Deferred prompts wait ${number(best.meanQueueAge, 1)} rounds on average,
${number(best.maxQueueAge, 0)} at most.</p>
<p><b>What is left.</b> A scheduler that knew all lengths could be ${number(lowerBound.speedupLimit)} × as fast as
${escapeHtml(baseline.label)} training, with the same responses.</p>`;
  return { verdict, text };
}

function figure(chart: string, workload: number, run: number, title: string, hint: string): string {
  return `<figure><figcaption>${title}<small>${hint}</small></figcaption>
<div class="chart ${chart}" data-chart="${chart}" data-workload="${workload}" data-run="${run}" role="img"
 aria-label="${title}. The tables below have its numbers."></div></figure>`;
}

function facts({ workload, settings }: ComparisonResult): string {
  const { p50, p75, p90, p99, max } = workload.quantiles;
  const tokens = [
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
    ['mean response', `${number(workload.meanTokens, 0)} tokens`],
    ['quantiles', tokens.map(([name, value]) => `${name} ${number(value, 0)}`).join(', ')],
  ];
  return all.map(([key, value]) => `<li><b>${escapeHtml(key)}</b> ${escapeHtml(value)}</li>`).join('');
}

/** The part of one workload; `index` is its place in the data of the charts. */
export function section(comparison: ComparisonResult, index: number): Part {
  const { workload, schedulers, notes } = comparison;
  const [baseline] = schedulers;
  const confidence = Math.round((baseline?.speedup.confidence ?? 0.95) * 100);
  const timelines = schedulers.map((one, run) =>
    figure(
      'timeline',
      index,
      run,
      `Every GPU over time: ${escapeHtml(one.label)}`,
      'all timelines of a workload have the same scale; drag the bar below to zoom, or Ctrl and the wheel',
    ),
  );
  const steps = figure(
    'steps',
    index,
    0,
    'Seconds of each step',
    `pale: ${escapeHtml(baseline?.label)}; shaded: long rounds of the others`,
  );
  const { verdict, text } = findings(comparison);
  const body = `${text}
${comparisonTable(comparison)}
<p class="note">Small figures are ${confidence} % bootstrap intervals over seeds. The clairvoyant lower bound is the least time in which
the same engines could train the same responses, if a scheduler knew all lengths. Tail batching chooses which responses it keeps, so it may be
faster than that. Charts show the first seed.</p>
${timelines.join('\n')}
${steps}
<div class="grid">${figure('lengths', index, 0, 'Lengths of trained responses', 'share of responses up to a length')}
${figure('queue', index, 0, 'Prompts in the long-prompt queue', 'when each step ends')}</div>
${numbersBehind(comparison)}
<details><summary>Settings and workload</summary><ul class="facts">${facts(comparison)}</ul></details>
<ul class="note">${notes.map((note) => `<li>${escapeHtml(note)}</li>`).join('')}</ul>`;
  return { title: escapeHtml(workload.name), verdict, body };
}
