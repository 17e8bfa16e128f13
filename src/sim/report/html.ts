/** Writes the report as one self-contained HTML page, without network, fonts or other files. */
import { printable } from '../../core/ids/printable.ts';
import { basisLine } from '../colocated/basis.ts';
import type { ComparisonResult } from '../comparison/result.ts';
import type { PoolsComparison } from '../pools/result.ts';
import type { VlmComparison } from '../vlm-formulas/result.ts';
import { workloadData } from './data.ts';
import { escapeHtml } from './format.ts';
import { contents, sections, tabs } from './panels.ts';
import { poolsData } from './pools-data.ts';
import { poolsSection } from './pools-section.ts';
import { section } from './section.ts';
import { styles } from './styles.ts';
import { vlmData } from './vlm-data.ts';
import { vlmSection } from './vlm-section.ts';

const meanings = [
  ['step, s', 'Seconds of a training step, on average: rollout, rewards, reference pass, training and weight sync.'],
  ['speedup', 'Total time of the baseline ÷ total time of this one, for the same prompts.'],
  [
    'of the oracle',
    'Seconds for a kept token of a scheduler that knows all lengths and keeps every response ÷ seconds of this one.',
  ],
  ['stale, lag', 'Share of the kept tokens from weights of an older version, and most versions.'],
  ['bubbles', 'Share of engine time in rollouts in which an engine has nothing to run.'],
  ['rounds waited', 'Rounds that a deferred prompt stayed in the long-prompt queue.'],
] as const;

/** Explanations of the token columns, for synchronous jobs and pools. */
const tokenMeanings = [
  ['at equal tokens', 'Seconds of the baseline for a kept token ÷ seconds of this one: fewer tokens are no gain.'],
  [
    'kept tokens',
    'Mean length of the responses trained on ÷ that of the baseline. Below 1, part of a speedup is fewer tokens.',
  ],
  ['at the cap', 'Share of the responses trained on that ran into the length cap.'],
  [
    'longest 1 %',
    'Of the longest 1 % of the responses that the baseline trains on: share that is trained on, and how many as long are trained on, drawn again or not.',
  ],
  ['even groups', 'Share of the groups trained on whose rewards are all equal: they have no advantage.'],
  ['drawn again', 'Share of the responses trained on whose prompt was deferred: its first responses were thrown away.'],
] as const;

const vlmMeanings = [
  ['load, s', 'Data loading that a step waits for.'],
  ['old, ref, s', 'Log-probabilities of the old policy and of the reference.'],
  ['without loading', 'The speedup without data loading in either step, which is what FlexRL reports.'],
  ['balance', 'Most attention work of a GPU ÷ the mean.'],
  ['sharded', 'Share of the sequences that more than one GPU shares.'],
  ['sent', 'Tokens that leave their GPU in the all-to-alls of one layer; GB in all layers and passes of a step.'],
  ['inputs, GB', 'Visual inputs that a step moves between hosts.'],
  ['controller, node, GB', 'Visual inputs in the host memory of the controller, and of the fullest node.'],
  ['GPU, GB', 'What the fullest GPU needs at least in an update.'],
] as const;

const poolsMeanings = [
  ['main time', 'From rollout start to train end, as RolloutPipe counts it.'],
  ['first dispatch', 'When the first update is dispatched to the trainer.'],
  ['recovery', 'From the first groups that could be trained to the end of the rollout (RolloutPipe, equation 3).'],
  ['wait', 'Seconds in which the trainer has nothing to do, up to its last update.'],
  ['wait, eq. 4', 'The waiting ratio of RolloutPipe, equation 4: first dispatch ÷ main time.'],
  ['wait ÷ (wait + training)', 'The waiting ratio of RolloutPipe §5.1; wait ÷ main time is that of §3.2, in words.'],
  ['CGP’s share, FGD’s share', 'What pipelining alone has of the whole reduction, and what the frontier adds.'],
  ['starved rounds', 'Rounds in which the frontier said that it is too narrow for the trainer.'],
] as const;

/** Returns what the jobs rest on; all comparisons of a command are of one job. */
function bases(comparisons: readonly ComparisonResult[]): string {
  const lines = new Set(comparisons.map(({ basis }) => basisLine(basis)));
  return [...lines].map((line) => `<p class="basis">${escapeHtml(line)}.</p>`).join('\n');
}

/** Returns data for the charts; `<` is escaped, so that no text in the data can end the script element. */
function dataElement(id: string, data: unknown): string {
  const json = printable(JSON.stringify(data)).replace(/</g, '\\u003c');
  return `<script type="application/json" id="${id}">${json}</script>`;
}

/**
 * Returns the page. Pure: the same arguments give the same text.
 *
 * @param comparisons - synchronous jobs, one section each
 * @param clientScript - the script that draws the charts, from `reportClient()`
 * @param vlm - vision-language jobs, one section each, at the end
 * @param pools - jobs on pools, one section each, before those of `vlm`
 */
export function renderReport(
  comparisons: readonly ComparisonResult[],
  clientScript: string,
  vlm: readonly VlmComparison[] = [],
  pools: readonly PoolsComparison[] = [],
): string {
  const explained = [
    ...(comparisons.length === 0 ? [] : meanings),
    ...(comparisons.length + pools.length === 0 ? [] : tokenMeanings),
    ...(pools.length === 0 ? [] : poolsMeanings),
    ...(vlm.length === 0 ? [] : vlmMeanings),
  ];
  const disaggregated = pools.length === 0 ? '' : dataElement('pools-data', pools.map(poolsData));
  const visual = vlm.length === 0 ? '' : dataElement('vlm-data', vlm.map(vlmData));
  const panels = [...comparisons.map(section), ...pools.map(poolsSection), ...vlm.map(vlmSection)];
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
<p>Simulated with the policies of rollflex: every scheduler has the same engines, prompts and samples.</p>
${bases(comparisons)}</header>
<noscript><p>Charts need JavaScript; the tables below have all their numbers.</p></noscript>
${tabs(panels)}
<main>${sections(panels)}</main>
<footer>${contents(panels)}
<details><summary>What the columns mean</summary>
<dl>${explained.map(([name, text]) => `<dt>${name}</dt><dd>${text}</dd>`).join('')}</dl></details>
<p>Charts are drawn by Apache ECharts (Apache-2.0); its notices are in the script of this page.</p></footer>
${dataElement('data', comparisons.map(workloadData))}
${disaggregated}
${visual}
<script>${script}</script>
</body>
</html>
`;
}
