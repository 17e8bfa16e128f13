/** The numbers of each view: what they mean, and where they are defined. */
import type { ViewId } from './settings/views.ts';

/** A column. */
export interface Metric {
  readonly id: string;
  readonly label: string;
  /** One line. */
  readonly meaning: string;
  /** The heading of docs/metrics.md. */
  readonly anchor: string;
}

const comparison = 'a-comparison-comparisonresult';
const run = 'a-run-runresult';
const pools = 'disaggregated-pools-poolsround-poolscomparison';
const vlm = 'a-comparison-of-vision-language-steps-vlmcomparison';
const metric = (id: string, label: string, meaning: string, anchor: string): Metric => ({ id, label, meaning, anchor });

export const metrics: Readonly<Record<ViewId, readonly Metric[]>> = {
  sync: [
    metric(
      'speedup',
      'speedup',
      'Time of the baseline ÷ time of this one, for the same prompts. In brackets: its interval over seeds.',
      comparison,
    ),
    metric(
      'equal',
      'at equal tokens',
      'Seconds of the baseline for a kept token ÷ seconds of this one. Fewer tokens are no gain here.',
      comparison,
    ),
    metric(
      'oracle',
      'of the oracle',
      'Seconds for a kept token of a scheduler that knows all lengths and keeps every response ÷ seconds of this one.',
      comparison,
    ),
    metric(
      'kept',
      'kept tokens',
      'Mean response trained on ÷ that of the baseline. Below 1, part of the speedup is fewer tokens.',
      comparison,
    ),
    metric('capped', 'at the cap', 'Share of the responses trained on that ran into the length limit.', run),
    metric(
      'longest',
      'longest 1 %',
      'Of the longest 1 % of the responses: share that is trained on / how many as long are, drawn again or not.',
      comparison,
    ),
    metric('even', 'even groups', 'Share of the groups trained on whose rewards are all equal.', comparison),
    metric('step', 'step', 'Seconds of a step: rollout, rewards, reference pass, training, weight sync.', comparison),
    metric('rollout', 'rollout', 'Seconds of it until nothing is generated any more.', comparison),
    metric('bubbles', 'bubbles', 'Share of engine time in rollouts in which an engine has nothing to run.', run),
    metric('waited', 'rounds waited', 'Rounds that a deferred prompt waited for a long round: mean / most.', run),
  ],
  pools: [
    metric('speedup', 'speedup', 'Main time of the serial trainer ÷ main time of this one.', pools),
    metric('equal', 'at equal tokens', 'The same with main time for each token that is trained on.', pools),
    metric('kept', 'kept tokens', 'Tokens trained on ÷ those of the serial trainer: all of them.', pools),
    metric('capped', 'at the cap', 'Share of the responses trained on that ran into the length limit.', pools),
    metric('main', 'main time', 'Seconds of a round from rollout start to train end.', pools),
    metric('round', 'round', 'Seconds of a whole round, new weights included.', pools),
    metric('first', 'first dispatch', 'When the trainer gets its first update.', pools),
    metric('eq4', 'wait, eq. 4', 'First dispatch ÷ main time (RolloutPipe, equation 4).', pools),
    metric('waiting', 'trainer waits', 'Wait ÷ (wait + training): the waiting ratio of RolloutPipe §5.1.', pools),
    metric(
      'bubbles',
      'bubbles',
      'Share of engine time until the last response in which an engine has nothing to run.',
      pools,
    ),
    metric('starved', 'starved rounds', 'Rounds in which the frontier was too narrow for the trainer.', pools),
  ],
  vlm: [
    metric('speedup', 'speedup', 'Step time of veRL with bucketing ÷ that of this one.', vlm),
    metric('kept', 'kept tokens', 'All schedulers train the same batches: 1.', vlm),
    metric('without', 'without loading', 'The speedup without data loading in either, as FlexRL reports it.', vlm),
    metric('step', 'step', 'Seconds of a step with what it waits for data loading.', vlm),
    metric('load', 'load', 'Seconds of data loading that the step waits for.', vlm),
    metric('balance', 'balance', 'Most attention work of a GPU ÷ the mean; 1 is even.', vlm),
    metric('sharded', 'sharded', 'Share of the sequences that more than one GPU shares.', vlm),
    metric('sent', 'sent', 'Bytes of all-to-alls in all layers and passes of a step.', vlm),
    metric('memory', 'GPU memory', 'What the fullest GPU needs at least in an update.', vlm),
    metric('exceeded', 'out of memory', 'Where it would not fit: then its times are what it would take.', vlm),
  ],
};

/** docs/metrics.md, from the page on a site or in a folder of the repository. */
export function metricsPage(protocol: string): string {
  return protocol === 'file:' ? '../../metrics.md' : '../metrics.html';
}
