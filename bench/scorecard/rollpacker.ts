/** RollPacker: every figure that it prints in numbers and that the simulator can print. */
import type { Row } from './row.ts';

type Given = readonly [id: string, what: string, printed: Row['printed'], use: Row['use']];
const rows = (where: string, ...list: readonly Given[]): Row[] =>
  list.map(([id, what, printed, use]) => ({ id, paper: 'RollPacker', where, what, printed, use }));

const [fitted, validation] = ['fitted', 'validation'] as const;
const models = ['7b', '14b', '32b'] as const;
const perModel = (id: string, what: string, printed: readonly Row['printed'][], uses: readonly Row['use'][]): Given[] =>
  models.map((model, index) => [`${id}-${model}`, `${what}, ${model.toUpperCase()}`, printed[index]!, uses[index]!]);
const unseen = [validation, validation, validation] as const;

export const rollpackerRows: readonly Row[] = [
  ...rows(
    'Figure 2',
    ['lengths-p75', '75 % of responses are shorter than, tokens (14B)', [755, 1100], fitted],
    ['lengths-longest', 'longest ÷ median response (14B)', [25, 32], fitted],
    ['lengths-over-2k', 'share of responses over 2,000 tokens (14B)', [0.1, 0.13], fitted],
    ['lengths-over-4k', 'share of responses over 4,000 tokens (14B)', [0.03, 0.05], fitted],
  ),
  ...rows(
    'Table 1',
    ['share-math-rollout', 'share of a step of math: rollout (14B)', 0.72, fitted],
    ['share-math-reward', 'share of a step of math: reward (14B)', 0.05, fitted],
    ['share-math-training', 'share of a step of math: training (14B)', 0.23, fitted],
    ['share-code-rollout', 'share of a step of code: rollout (14B)', 0.66, fitted],
    ['share-code-reward', 'share of a step of code: reward (14B)', 0.13, fitted],
    ['share-code-training', 'share of a step of code: training (14B)', 0.21, fitted],
    ['share-judge-rollout', 'share of a step with a judge: rollout (14B)', 0.71, fitted],
    ['share-judge-reward', 'share of a step with a judge: reward (14B)', 0.07, fitted],
    ['share-judge-training', 'share of a step with a judge: training (14B)', 0.22, fitted],
  ),
  ...rows(
    '§3',
    ['longest-short', 'longest response: baseline ÷ short round, at most (14B, code)', 8.9, fitted],
    ['tail-code-14b', 'step speedup of tail batching (14B, code)', 1.48, validation],
  ),
  ...rows(
    'Figure 12',
    ['rollout-7b', 'rollout of the baseline, s (7B)', 82, fitted],
    ['rollout-7b-r1.125', 'eta_R 1.125, s (7B)', 77, fitted],
    ['rollout-7b-r1.25', 'eta_R 1.25, s (7B)', 71, fitted],
    ['rollout-7b-r1.5', 'eta_R 1.5, s (7B)', 54, fitted],
    ['rollout-7b-p1.125', 'eta_P 1.125, s (7B)', 77, fitted],
    ['rollout-7b-p1.25', 'eta_P 1.25, s (7B)', 72, fitted],
    ['rollout-7b-p1.5', 'eta_P 1.5, s (7B)', 60, fitted],
    ['rollout-14b', 'rollout of the baseline, s (14B)', 277, fitted],
    ['rollout-14b-r1.125', 'eta_R 1.125, s (14B)', 260, fitted],
    ['rollout-14b-r1.25', 'eta_R 1.25, s (14B)', 232, fitted],
    ['rollout-14b-r1.5', 'eta_R 1.5, s (14B)', 115, fitted],
    ['rollout-14b-p1.125', 'eta_P 1.125, s (14B)', 244, fitted],
    ['rollout-14b-p1.25', 'eta_P 1.25, s (14B)', 169, fitted],
    ['rollout-14b-p1.5', 'eta_P 1.5, s (14B)', 143, fitted],
    ['rollout-32b', 'rollout of the baseline, s (32B)', 673, fitted],
  ),
  ...rows(
    '§6.3',
    ['joint-32b', 'rollout speedup, both factors 1.25, at most (32B)', 3.9, validation],
    ['joint-over-r', 'both factors 1.25 over the best eta_R alone, at most', 1.5, fitted],
    ['joint-over-p', 'both factors 1.25 over the best eta_P alone, at most', 1.6, fitted],
    ['p1.5-over-p1.25-32b', 'rollout, eta_P 1.5 ÷ 1.25 (32B): it increases', [1, 2], validation],
  ),
  ...rows('§6.2', ['short-rollout-32b', 'rollout: baseline ÷ short round, at most (32B)', 7.8, validation]),
  ...rows(
    'Figure 7',
    ['preemptions', 'preemptions at TP 1, short ÷ long', 1.79, fitted],
    ['preempted-short', 'rollout at TP 1, short, s', 1029, fitted],
    ['preempted-long', 'rollout at TP 1, long, s', 1172, fitted],
    ['preemptions-tp2-short', 'preemptions, TP 2 ÷ TP 1, short', 0.789, fitted],
    ['preemptions-tp2-long', 'preemptions, TP 2 ÷ TP 1, long', 0.897, validation],
    ['preempted-tp2-short', 'rollout, TP 2 ÷ TP 1, short', 0.75, fitted],
  ),
  ...rows(
    'Table 2',
    ...perModel('tail', '+ tail batching', [1.3, 1.48, 2.21], [fitted, validation, validation]),
    ...perModel('rewards', '+ reward scheduler', [2.01, 1.99, 2.48], unseen),
    ...perModel('planner', '+ parallelism planner', [2.01, 2.02, 2.52], [fitted, validation, validation]),
    ...perModel('streaming', '+ stream trainer', [2.03, 2.22, 2.56], unseen),
  ),
  ...rows(
    'Figure 10',
    ...perModel('over-rlhfuse', 'over RLHFuse', [1.14, 1.68, 2.24], unseen),
    ...perModel(
      'short-over-verl',
      'short steps over veRL',
      [
        [2.1, 3.6],
        [2.1, 3.6],
        [2.1, 3.6],
      ],
      unseen,
    ),
    ...perModel(
      'short-over-rlhfuse',
      'short steps over RLHFuse',
      [
        [1.2, 3.2],
        [1.2, 3.2],
        [1.2, 3.2],
      ],
      unseen,
    ),
  ),
  ...rows(
    'Figure 11c',
    ['step-short-7b', 'short step of all of it, s (7B)', 106, fitted],
    ['step-long-7b', 'long step of all of it, s (7B)', 129, fitted],
  ),
  ...rows(
    '§6.4',
    ['planner-first-raise', 'step of the first raise of the TP (14B, lengths from 8k to 32k)', 3, validation],
    ['planner-second-raise', 'step of the second raise', 8, validation],
    ['planner-speedup', 'rollout at TP 1 ÷ with the planner', 1.9, fitted],
    ['planner-preemptions', 'preemptions of short rounds with the planner ÷ without (32k)', 0.862, fitted],
    ['planner-short', 'rollout of short rounds without the planner ÷ with it (32k)', [1.11, 1.28], fitted],
  ),
  ...rows(
    '§6.5',
    ...perModel('async-rewards', 'rewards beside the rollout, step speedup', [1.48, 1.35, 1.18], unseen),
    ['mps', 'judge beside the actor: steps without MPS ÷ with it, at most', 1.25, validation],
    ['judge-pipelined', 'pass of the judge at 32k: sequential ÷ pipelined', 1.4, validation],
    ['timeout-fixed', 'rollout and reward of a short round of code at 30 s, s (7B)', 55, fitted],
    ['timeout-adaptive', 'fixed ÷ adaptive timeout, mean over steps (7B, code)', 1.6, validation],
  ),
  ...rows(
    'Table 3',
    ['scaling-off', 'long step without GPU scaling, s (7B, math)', 124.2, fitted],
    ['scaling-20', 'at 20 %, s', 122.7, validation],
    ['scaling-30', 'at 30 %, s', 118.2, fitted],
    ['scaling-40', 'at 40 %, s', 119.8, validation],
    ['scaling-adaptive', 'adaptively, s', 115.2, validation],
  ),
  ...rows(
    'Table 4',
    ['fetch-20', 'one fetch at 20 %, s (7B, math)', 128.6, validation],
    ['fetch-30', 'at 30 %, s', 129.5, validation],
    ['fetch-40', 'at 40 %, s', 133.8, validation],
    ['fetch-50', 'at 50 %, s', 132.0, validation],
  ),
  ...rows('Figure 15a', ['one-step-off', 'all of it over a one-step off-policy baseline (7B)', 1.71, validation]),
  ...rows(
    'Figure 16',
    ['scale-256', 'throughput over veRL, batch 256 on 64 GPUs (14B)', 2.2, validation],
    ['scale-512', 'throughput over veRL, batch 512 on 128 GPUs (14B)', 2.2, validation],
    ['scale-doubling', 'throughput with twice the batch and GPUs (14B)', 1.5, validation],
  ),
];

/** What it prints in numbers and the simulator cannot. */
export const rollpackerOutside: readonly (readonly [where: string, why: string])[] = [
  ['Figure 2b, 8b', 'utilization of SMs: no kernel is simulated'],
  ['Figure 5', 'time to first token and time per output token: their values are not printed'],
  ['Figure 8a', 'times of sandbox runs: an input of the simulator'],
  ['Figure 9', 'validation scores: nothing learns'],
  ['Figure 15b', 'longest responses by step: their values are not printed'],
];
