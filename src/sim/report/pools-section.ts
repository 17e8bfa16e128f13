/** The panel of a report on disaggregated pools: findings, table, waits, and both pools over time. */

import type { PoolsComparison, PoolsSchedulerResult, ReductionShares } from '../pools/result.ts';
import { fastestPools } from './best.ts';
import { equalText, fasterText, pageSigns, speedupOf } from './faster.ts';
import { type Column, escapeHtml, number, percent, table } from './format.ts';
import { frontierColumns, roundColumns, timeColumns, trainedColumns, waitColumns } from './measures/pools.ts';
import { type Findings, type Fold, figure, legendOf, noFindings, noteList, type Panel } from './panels.ts';
import { pictured } from './pools-data.ts';

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
  const best = fastestPools(schedulers.slice(1));
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

function tables({ schedulers, shares }: PoolsComparison): string {
  const [baseline] = schedulers;
  const times = timeColumns.map(([head, cell]): Column<PoolsSchedulerResult> => {
    return [head, (one) => (one === baseline && head === 'shorter by' ? '' : cell(one))];
  });
  const shareOf = (of: 'cgp' | 'fgd', { scheduler }: PoolsSchedulerResult): string => {
    const share = shares.find((one) => one.scheduler === scheduler);
    return share === undefined ? '' : percent(share[of]);
  };
  const ofMechanisms: readonly Column<PoolsSchedulerResult>[] = [
    ['CGP’s share', (one) => shareOf('cgp', one)],
    ['FGD’s share', (one) => shareOf('fgd', one)],
  ];
  const waits = [...waitColumns, ...ofMechanisms, ...frontierColumns];
  return `${table('Rounds', times, schedulers)}
${table('What is trained on', trainedColumns, schedulers)}
${table('Waiting ratios, by three definitions, and the frontier', waits, schedulers)}`;
}

const roundTable = ({ label, runs: [run] }: PoolsSchedulerResult): string =>
  table(`Rounds of the first seed: ${escapeHtml(label)}`, roundColumns, run!.rounds);

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
      body: `${tables(comparison)}
<p class="note">CGP: complete-group pipelining. FGD n: at most n groups in service. Main time: from rollout start to train end; ± is its
standard deviation over rounds. Small figures are 95 % bootstrap intervals over seeds.</p>`,
    },
    {
      title: 'Every round of the first seed, as tables',
      body: `<div class="numbers">${schedulers.map(roundTable).join('\n')}</div>`,
    },
    { title: 'Notes', body: noteList(notes) },
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
