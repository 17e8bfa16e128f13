/** The panel of a report on a VLM workload: findings, tables, stages, and pictures of plans. */
import { vlmModel } from '../vlm-formulas/models.ts';
import type { VlmComparison } from '../vlm-formulas/result.ts';
import { lengthOf } from '../vlm-formulas/workload/sample.ts';
import { fastestVlm } from './best.ts';
import { pageSigns, savedText } from './faster.ts';
import { escapeHtml, number, percent, table } from './format.ts';
import { onPages } from './measures/measure.ts';
import { loadMeasures, stepMeasures } from './measures/vlm.ts';
import { type Findings, type Fold, figure, noFindings, noteList, type Panel } from './panels.ts';
import { pictured, vlmData } from './vlm-data.ts';

function findings({ schedulers }: VlmComparison): Findings {
  const [baseline] = schedulers;
  if (baseline === undefined) return noFindings;
  const best = fastestVlm(schedulers);
  const [ours, theirs] = [escapeHtml(best.label), escapeHtml(baseline.label)];
  const verdict = `${ours}: ${number(best.speedup)} × as fast as ${theirs} (${savedText(best.speedup, pageSigns)}).`;
  const text = `<p><b>Where it comes from.</b> Data loading holds a step up for ${number(best.exposedLoadSeconds, 1)} s instead of
${number(baseline.exposedLoadSeconds, 1)} s. Without it the step takes ${number(best.gpuSeconds, 1)} s instead of
${number(baseline.gpuSeconds, 1)} s, ${number(best.speedupWithoutLoading)} × as fast. The GPU with most attention work has
${number(best.balance)} × the mean, instead of ${number(baseline.balance)} ×.</p>`;
  return { verdict, text };
}

/** Returns the legend of sequences: their colours and numbers of GPUs; the picture also shows these numbers. */
function planLegend(comparison: VlmComparison, run: number): string {
  const { batch, schedulers } = comparison;
  const { degrees, shards } = schedulers[run]!.picture;
  const items = vlmData(comparison).longest.map((sequence, colour) => {
    const tokens = number(lengthOf(batch[sequence]!), 0);
    const gpus = degrees[sequence] === 1 ? '1 GPU' : `${degrees[sequence]} GPUs`;
    return `<li><i class="seq${colour}"></i>#${sequence}: ${tokens} tokens, ${gpus}</li>`;
  });
  const has = (activity: string): boolean => shards.some((one) => one.activity === activity);
  const others = [
    '<li><i class="pale"></i>the other sequences, pale</li>',
    ...(has('vision') ? ['<li><i class="short"></i>vision tower</li>'] : []),
    ...(has('all-to-all') ? ['<li><i class="sent"></i>all-to-all in the open</li>'] : []),
  ];
  return `<ul class="legend">${[...items, ...others].join('')}</ul>`;
}

function planFigure(comparison: VlmComparison, index: number, run: number): string {
  const title = `The plan on ${comparison.job.gpus} GPUs: ${escapeHtml(comparison.schedulers[run]!.label)}`;
  const hint = 'a row for each GPU; one forward pass of the first batch; the longest sequences are coloured';
  return figure({ chart: 'plan', workload: index, run, title, hint, legend: planLegend(comparison, run) });
}

/** Returns the panel of one VLM workload; `index` is its index in the data of the charts. */
export function vlmSection(comparison: VlmComparison, index: number): Panel {
  const { workload, job, schedulers, notes } = comparison;
  const facts = [
    `${vlmModel(job.model).label}, ${job.gpus} × ${job.gpu.toUpperCase()}, ${job.batchSequences} sequences a step`,
    `simulated sequences mean ${number(workload.meanTokens, 0)} tokens, longest ${number(workload.longestTokens, 0)}`,
    `${percent(workload.visualShare)} of the tokens are visual`,
    escapeHtml(workload.source),
  ];
  const { verdict, text } = findings(comparison);
  const argument = `${text}
<p class="note">${facts.join('; ')}.</p>
${figure({ chart: 'stages', workload: index, title: 'Seconds of a step', hint: 'by stage, mean over the steps' })}`;
  const folds: Fold[] = [
    {
      title: 'Every scheduler in numbers',
      body: `${table('Steps', onPages(stepMeasures), schedulers)}
${table('Balance, traffic and memory', onPages(loadMeasures), schedulers)}
<p class="note">SL: ShadowLoader. FU: FlexUlysses. Ulysses SP n: every sequence on n GPUs. A step waits for the slowest GPU in every stage.</p>`,
    },
    {
      title: `The plan on ${job.gpus} GPUs`,
      body: pictured(schedulers)
        .map((run) => planFigure(comparison, index, run))
        .join('\n'),
    },
    { title: 'Notes', body: noteList(notes) },
  ];
  const name = escapeHtml(workload.name);
  return { title: `Vision-language: ${name}`, tab: `Vision: ${name.replace(/,.*$/, '')}`, verdict, argument, folds };
}
