/** The report as one self-contained HTML page: no network, no fonts, no files beside it. */
import type { ComparisonResult, Interval, SchedulerResult } from '../result.ts';
import { workloadData } from './data.ts';
import { styles } from './styles.ts';

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escapeHtml = (text: unknown): string => String(text).replace(/[&<>"']/g, (sign) => escapes[sign]!);

const number = (value: number, digits = 2): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
const percent = (share: number): string => `${number(share * 100, 1)} %`;
const times = (interval: Interval): string =>
  `${number(interval.value)} × <span class="range">${number(interval.low)}–${number(interval.high)}</span>`;

function row(result: SchedulerResult): string {
  const cells = [
    `<th scope="row">${escapeHtml(result.label)}</th>`,
    `<td>${number(result.stepSeconds.value, 1)}</td>`,
    `<td>${number(result.rolloutSeconds.value, 1)}</td>`,
    `<td class="main">${times(result.speedup)}</td>`,
    `<td>${times(result.rolloutSpeedup)}</td>`,
    `<td>${percent(result.bubbleRatio)}</td>`,
    `<td>${number(result.keptTokenRatio)}</td>`,
    `<td>${percent(result.cappedShare)}</td>`,
    `<td>${number(result.meanQueueAge, 1)} / ${number(result.maxQueueAge, 0)}</td>`,
  ];
  return `<tr>${cells.join('')}</tr>`;
}

function headline(comparison: ComparisonResult): string {
  const [baseline, ...others] = comparison.schedulers;
  const best = [...others].sort((a, b) => b.speedup.value - a.speedup.value)[0];
  if (baseline === undefined || best === undefined) return '';
  const saved = 1 - 1 / best.speedup.value;
  const verdict =
    saved > 0
      ? `${escapeHtml(best.label)} would save ${percent(saved)} of the time`
      : `${escapeHtml(best.label)} would not save time`;
  return `<p class="headline">${verdict}: ${number(best.speedup.value)} × as fast.</p>
<p>The engines of ${escapeHtml(baseline.label)} training stand idle for ${percent(baseline.bubbleRatio)} of each rollout, waiting for
its longest responses; with ${escapeHtml(best.label)} for ${percent(best.bubbleRatio)}. It keeps every prompt, but not every response:
the mean kept response has ${number(best.keptTokenRatio)} × the tokens, and ${percent(best.cappedShare)} of kept responses run into the
length cap, instead of ${percent(baseline.cappedShare)}.</p>`;
}

function section(comparison: ComparisonResult, index: number): string {
  const { workload, settings, lowerBound } = comparison;
  const facts = Object.entries(settings).map(
    ([key, value]) => `<li><b>${escapeHtml(key)}</b> ${escapeHtml(value)}</li>`,
  );
  const charts = comparison.schedulers
    .map(
      (one, run) => `<figure><figcaption>Every GPU over time: ${escapeHtml(one.label)}</figcaption>
<div class="chart timeline" data-chart="timeline" data-workload="${index}" data-run="${run}" role="img" aria-label="Timeline of every GPU, ${escapeHtml(one.label)}"></div></figure>`,
    )
    .join('\n');
  const chart = (kind: string, title: string) => `<figure><figcaption>${title}</figcaption>
<div class="chart" data-chart="${kind}" data-workload="${index}" role="img" aria-label="${title}"></div></figure>`;
  return `<section>
<h2>${escapeHtml(workload.name)}</h2>
${headline(comparison)}
<div class="scroll"><table>
<thead><tr><th scope="col">scheduler</th><th scope="col">step, s</th><th scope="col">rollout, s</th><th scope="col">speedup</th><th scope="col">of the rollout</th>
<th scope="col">bubbles</th><th scope="col">kept tokens</th><th scope="col">at the cap</th><th scope="col">rounds waited, mean / most</th></tr></thead>
<tbody>${comparison.schedulers.map(row).join('\n')}
<tr class="bound"><th scope="row">clairvoyant lower bound</th><td></td><td></td><td class="main">${number(lowerBound.speedupLimit)} ×</td><td></td><td></td><td>1.00</td><td></td><td></td></tr></tbody>
</table></div>
<p class="note">Small figures are bootstrap intervals. The lower bound is the least time in which a scheduler that knew all lengths could
train the same responses; tail batching chooses which responses it keeps, so it may go below.</p>
${charts}
<div class="grid">${chart('steps', `Seconds of each step (pale: ${escapeHtml(comparison.schedulers[0]?.label)})`)}${chart('lengths', 'Lengths of trained responses')}${chart('queue', 'Prompts in the long-prompt queue')}</div>
<details><summary>Settings and workload</summary><ul class="facts">${facts.join('')}
<li><b>source</b> ${escapeHtml(workload.source)}</li><li><b>responses</b> ${escapeHtml(workload.resampling)}</li>
<li><b>within-prompt correlation</b> ${number(workload.correlation)}</li><li><b>length cap</b> ${number(workload.capTokens, 0)} tokens</li>
<li><b>quantiles</b> P50 ${number(workload.quantiles.p50, 0)}, P75 ${number(workload.quantiles.p75, 0)}, P90 ${number(workload.quantiles.p90, 0)}, P99 ${number(workload.quantiles.p99, 0)}, longest ${number(workload.quantiles.max, 0)} tokens</li></ul>
<ul>${comparison.notes.map((note) => `<li>${escapeHtml(note)}</li>`).join('')}</ul></details>
</section>`;
}

/**
 * The page.
 *
 * @param comparisons - one section each
 * @param clientScript - what draws the charts (`report-client.js`)
 */
export function renderReport(comparisons: readonly ComparisonResult[], clientScript: string): string {
  // `<` is escaped, so that no string in the data can end the script element.
  const data = JSON.stringify(comparisons.map(workloadData)).replace(/</g, '\\u003c');
  const script = clientScript.replace(/<\/script/gi, '<\\/script');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>rollflex: what scheduling would save</title>
<style>${styles}</style>
</head>
<body>
<header><h1>What scheduling would save</h1>
<p>Simulated with the policies of rollflex on recorded response lengths. The same engines, prompts and samples for every scheduler.</p>
<ul class="legend"><li><i class="rollout"></i>rollout, darker with more running sequences</li><li><i class="train"></i>training</li>
<li><i class="sync"></i>weight sync</li><li><i class="reward"></i>rewards</li><li><i class="long"></i>long round</li><li><i class="bubble"></i>gap: the GPU is idle</li></ul></header>
<main>${comparisons.map(section).join('\n')}</main>
<footer><p>Charts are drawn by Apache ECharts (Apache-2.0).</p></footer>
<script type="application/json" id="data">${data}</script>
<script>${script}</script>
</body>
</html>
`;
}
