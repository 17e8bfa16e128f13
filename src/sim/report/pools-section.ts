/** The panel of a report on disaggregated pools: findings, table, waits, and both pools over time. */

import type { Interval } from '../comparison/result.ts';
import type { PoolsComparison, PoolsSchedulerResult, ReductionShares } from '../pools/result.ts';
import { equalText, fasterText, pageSigns, speedupOf } from './faster.ts';
import { escapeHtml, number, percent, table, times } from './format.ts';
import { type Findings, type Fold, figure, legendOf, noFindings, type Panel } from './panels.ts';
import { pictured } from './pools-data.ts';

/** Returns the fastest scheduler other than the baseline. */
const bestOf = (schedulers: readonly PoolsSchedulerResult[]): PoolsSchedulerResult | undefined =>
  [...schedulers.slice(1)].sort((a, b) => a.mainSeconds.value - b.mainSeconds.value)[0];

/** Formats an interval in percent, without a sign. */
const rangeOf = ({ low, high }: Interval): string => `${number(100 * low, 1)} to ${number(100 * high, 1)}`;

function sharesText(share: ReductionShares | undefined): string {
  if (share === undefined) return '';
  return `Complete-group pipelining alone has ${percent(share.cgp)} of that, frontier-group dispatch adds ${percent(share.fgd)}.`;
}

/** Returns the cost of the saved time in tokens. */
function tokensText({ keptTokenRatio, equalTokenSpeedup }: PoolsSchedulerResult): string {
  if (keptTokenRatio > 0.995) return 'No token: every scheduler trains all of them, on policy, in as many updates.';
  return `Tokens: ${number(keptTokenRatio)} × as many are trained on. In seconds for a token it is ${number(equalTokenSpeedup.value)} × as fast.`;
}

/** Returns the rollout time that a frontier costs, because the engines are less full. */
function rolloutText(best: PoolsSchedulerResult, baseline: PoolsSchedulerResult): string {
  const [ours, theirs] = [best.rolloutSeconds, baseline.rolloutSeconds].map((seconds) => number(seconds, 0));
  if (ours === theirs) return 'The rollout itself takes as long.';
  return `The rollout itself takes ${ours} s instead of ${theirs} s.`;
}

function findings({ schedulers, shares }: PoolsComparison): Findings {
  const [baseline] = schedulers;
  const best = bestOf(schedulers);
  if (baseline === undefined || best === undefined) return noFindings;
  const label = escapeHtml(best.label);
  const verdict = `${label}: ${fasterText(speedupOf(best.reduction), pageSigns)}, ${equalText(best.equalTokenSpeedup, pageSigns)}.`;
  const share = shares.find((one) => one.scheduler === best.scheduler);
  const text = `<p><b>Where it comes from.</b> From rollout start to train end a round takes ${number(best.mainSeconds.value, 0)} s instead of
${number(baseline.mainSeconds.value, 0)} s. The first update is dispatched after
${number(best.firstDispatchSeconds, 0)} s instead of ${number(baseline.firstDispatchSeconds, 0)} s; in all the trainer waits for
${number(best.waitSeconds, 0)} s instead of ${number(baseline.waitSeconds, 0)} s. ${sharesText(share)}</p>
<p><b>What it costs.</b> ${tokensText(best)} ${rolloutText(best, baseline)}</p>`;
  return { verdict, text };
}

function timeTable(schedulers: readonly PoolsSchedulerResult[]): string {
  const columns = [
    'scheduler',
    'main time, s',
    'shorter by',
    'rollout, s',
    'first dispatch, s',
    'recovery, s',
    'training, s',
    'wait, s',
    'round, s',
  ];
  const rows = schedulers.map((one) => [
    escapeHtml(one.label),
    `${number(one.mainSeconds.value, 1)} <span class="range">± ${number(one.mainDeviation, 1)}</span>`,
    one === schedulers[0]
      ? ''
      : `<b>${percent(one.reduction.value)}</b> <span class="range">${rangeOf(one.reduction)}</span>`,
    ...[one.rolloutSeconds, one.firstDispatchSeconds, one.recoverySeconds, one.computeSeconds, one.waitSeconds].map(
      (seconds) => number(seconds, 1),
    ),
    number(one.roundSeconds, 1),
  ]);
  return table('Rounds', columns, rows);
}

function trainedTable(schedulers: readonly PoolsSchedulerResult[]): string {
  const columns = [
    'scheduler',
    'at equal tokens',
    'kept tokens',
    'at the cap',
    'longest 1\u00a0%, same / as long',
    'even groups',
    'drawn again',
  ];
  const rows = schedulers.map((one) => [
    escapeHtml(one.label),
    `<b>${times(one.equalTokenSpeedup)}</b>`,
    `${number(one.keptTokenRatio)} ×`,
    percent(one.cappedShare),
    `${percent(one.longestKeptShare)} / ${percent(one.longestTrainedRatio)}`,
    percent(one.evenGroupShare),
    percent(one.redrawnShare),
  ]);
  return table('What is trained on', columns, rows);
}

function waitTable({ schedulers, shares }: PoolsComparison): string {
  const columns = [
    'scheduler',
    'wait, eq.\u00a04',
    'wait ÷ (wait + training)',
    'wait ÷ main time',
    'CGP’s share',
    'FGD’s share',
    'F_w',
    'starved rounds',
    'bubbles',
  ];
  const rows = schedulers.map((one) => {
    const share = shares.find(({ scheduler }) => scheduler === one.scheduler);
    return [
      escapeHtml(one.label),
      ...[one.startWaitingRatio, one.computeWaitingRatio, one.wallClockWaitingRatio].map(percent),
      share === undefined ? '' : percent(share.cgp),
      share === undefined ? '' : percent(share.fgd),
      one.meanWidth === undefined ? 'all' : number(one.meanWidth, one.width === 'auto' ? 1 : 0),
      number(one.starvedRounds, 0),
      percent(one.bubbleRatio),
    ];
  });
  return table('Waiting ratios, by three definitions, and the frontier', columns, rows);
}

function roundTable({ label, runs }: PoolsSchedulerResult): string {
  const columns = [
    'round',
    'starts, s',
    'main, s',
    'rollout, s',
    'first dispatch, s',
    'recovery, s',
    'training, s',
    'wait, s',
    'weights, s',
    'updates',
    'responses',
    'tokens',
    'most in service',
    'preemptions',
  ];
  const rows = runs[0]!.rounds.map((one) => [
    `${one.round}`,
    ...[
      one.startSeconds,
      one.mainSeconds,
      one.rolloutSeconds,
      one.firstDispatchSeconds,
      one.recoverySeconds,
      one.computeSeconds,
      one.waitSeconds,
      one.publishSeconds,
    ].map((seconds) => number(seconds, 1)),
    ...[one.updates, one.responses, one.tokens, one.mostInService, one.preemptions].map((count) => number(count, 0)),
  ]);
  return table(`Rounds of the first seed: ${escapeHtml(label)}`, columns, rows);
}

const legend = [
  ['rollout', 'rollout (stronger with more running sequences)'],
  ['train', 'training: one bar an update'],
  ['sync', 'new weights to the engines'],
  ['bubble', 'nothing to do'],
] as const;

/** Returns the panel of one workload; `index` is its index in the data of the charts. */
export function poolsSection(comparison: PoolsComparison, index: number): Panel {
  const { workload, job, rounds, seeds, schedulers, notes } = comparison;
  const { groupsPerRound, responsesPerPrompt, globalBatchSamples } = job;
  const facts = [
    escapeHtml(job.name),
    `R = ${groupsPerRound} groups of K = ${responsesPerPrompt} responses, U = ${globalBatchSamples / responsesPerPrompt} groups an update`,
    `simulated responses mean ${number(workload.meanTokens, 0)} tokens, longest ${number(workload.longestTokens, 0)}`,
    `${rounds} rounds, ${seeds.length} ${seeds.length === 1 ? 'seed' : 'seeds'}`,
    escapeHtml(workload.source),
  ];
  const shown = pictured(schedulers).map((one) => escapeHtml(schedulers[one]!.label));
  const pictureTitle = `Both pools over time: ${shown.join(', ')}`;
  const { verdict, text } = findings(comparison);
  const argument = `${text}
<p class="note">${facts.join('; ')}.</p>
${figure({ chart: 'waits', workload: index, title: 'What the trainer does in a round', hint: 'mean over rounds and seeds' })}
${figure({ chart: 'pools', workload: index, title: pictureTitle, hint: 'one axis for all; drag the bar below to zoom, or Ctrl and the wheel', legend: legendOf(legend) })}`;
  const folds: Fold[] = [
    {
      title: 'Every scheduler in numbers',
      body: `${timeTable(schedulers)}
${trainedTable(schedulers)}
${waitTable(comparison)}
<p class="note">CGP: complete-group pipelining. FGD n: at most n groups in service. Main time: from rollout start to train end; ± is its
standard deviation over rounds. Small figures are 95 % bootstrap intervals over seeds.</p>`,
    },
    {
      title: 'Every round of the first seed, as tables',
      body: `<div class="numbers">${schedulers.map(roundTable).join('\n')}</div>`,
    },
    { title: 'Notes', body: `<ul class="note">${notes.map((note) => `<li>${escapeHtml(note)}</li>`).join('')}</ul>` },
  ];
  const name = escapeHtml(workload.name);
  return {
    title: `Disaggregated pools: ${name}, R = ${groupsPerRound}`,
    tab: `Pools: ${name}`,
    verdict,
    argument,
    folds,
  };
}
