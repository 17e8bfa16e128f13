/**
 * The schedulers that the driver of disaggregated pools runs: the recipe `rolloutpipe`, with its two switches, or
 * `tail-pipelining`, with the same two. Nothing here schedules.
 */
import type { PolicyOptions } from '../../core/machine/policy.ts';
import { create } from '../../core/machine/start.ts';
import { type RolloutPipeInput, rolloutPipe } from '../../recipes/rolloutpipe/index.ts';
import { type TailPipeliningInput, tailPipelining } from '../../recipes/tail-pipelining/index.ts';
import type { DrivenPolicy } from '../cluster/event-loop.ts';
import type { PoolsJob } from './settings.ts';

/** F_w: most groups in service at once; `all` is no frontier. */
export type FrontierWidth = number | 'auto' | 'all';

/** A scheduler that can be simulated. A new policy is made for every run, so that runs share nothing. */
export interface PoolsScheduler {
  /** Id in kebab case, which results carry. */
  readonly id: string;
  /** For people: tables and charts. */
  readonly label: string;
  /** Complete-group pipelining: whether updates are dispatched during the rollout. */
  readonly pipelining: boolean;
  /** F_w: how many groups may be in service at once, `auto`, or `all`. */
  readonly width: FrontierWidth;
  /** Whether rounds use tail batching: the policy asks for prompts, launches and aborts. */
  readonly tailBatching: boolean;
  /** Returns a new policy in its initial state. */
  create(job: PoolsJob, options: PolicyOptions): DrivenPolicy;
}

/**
 * A scheduler.
 *
 * @param pipelining - whether the trainer is fed during the rollout
 * @param width - F_w, `auto`, or `all` for no frontier
 */
export function poolsScheduler(id: string, label: string, pipelining: boolean, width: FrontierWidth): PoolsScheduler {
  return Object.freeze({
    id,
    label,
    pipelining,
    width,
    tailBatching: false,
    create: (job: PoolsJob, options: PolicyOptions) => {
      const config = rolloutpipeConfigOf(job, pipelining, width);
      return create(rolloutPipe, config, options) as unknown as DrivenPolicy;
    },
  });
}

const frontierOf = (width: FrontierWidth): Pick<RolloutPipeInput, 'frontier' | 'width'> =>
  width === 'all' ? { frontier: false } : { frontier: true, width };

const trainingOf = (job: PoolsJob): Pick<RolloutPipeInput, 'globalBatchSamples' | 'maxTokensPerGpu'> => {
  const { globalBatchSamples, maxTokensPerGpu } = job;
  return maxTokensPerGpu === undefined ? { globalBatchSamples } : { globalBatchSamples, maxTokensPerGpu };
};

/** Returns the configuration of the recipe `rolloutpipe` for a job. */
export function rolloutpipeConfigOf(job: PoolsJob, pipelining: boolean, width: FrontierWidth): RolloutPipeInput {
  const { responsesPerPrompt } = job;
  return { responsesPerPrompt, ...trainingOf(job), pipelining, ...frontierOf(width) };
}

/** Returns the configuration of the recipe `tail-pipelining` for a job: P0 is R, R0 is K. */
export function tailPipeliningConfigOf(
  job: PoolsJob,
  pipelining: boolean,
  width: FrontierWidth,
  settings: PoolsTailSettings = {},
): TailPipeliningInput {
  const { groupsPerRound: promptsPerRound, responsesPerPrompt } = job;
  const batch = { promptsPerRound, responsesPerPrompt, ...trainingOf(job) };
  return { ...settings, ...batch, pipelining, ...frontierOf(width) };
}

/** Serial: all requests at once, and training when the last group of the round has its rewards, as in Slime. */
export const serialBaseline = poolsScheduler('serial', 'serial', false, 'all');

/** Complete-group pipelining alone. */
export const cgpScheduler = poolsScheduler('cgp', 'CGP', true, 'all');

const widthName = (width: FrontierWidth): string => (width === 'auto' ? 'auto' : `${width}`);

/** Returns frontier-group dispatch alone: training still comes after the rollout. */
export const fgdScheduler = (width: FrontierWidth): PoolsScheduler =>
  poolsScheduler(`fgd-${widthName(width)}`, `FGD ${widthName(width)}`, false, width);

/** Returns RolloutPipe, which has both mechanisms. */
export const rolloutpipeScheduler = (width: FrontierWidth): PoolsScheduler =>
  poolsScheduler(`cgp-fgd-${widthName(width)}`, `CGP + FGD ${widthName(width)}`, true, width);

/** The two over-provisioning factors of tail batching, which are not part of the job; each is 1.25 if absent. */
export type PoolsTailSettings = Pick<TailPipeliningInput, 'promptSpeculation' | 'responseSpeculation'>;

/**
 * Returns tail batching on pools: P0 is R, R0 is K.
 *
 * @param pipelining - whether complete prompts are trained while the rest is generated
 * @param width - F_w, `auto`, or `all` for no frontier
 */
export function poolsTailScheduler(
  pipelining: boolean,
  width: FrontierWidth = 'all',
  settings: PoolsTailSettings = {},
): PoolsScheduler {
  const name = [...(pipelining ? ['CGP'] : []), ...(width === 'all' ? [] : [`FGD ${widthName(width)}`])];
  return Object.freeze({
    id: ['tail', ...name].join('-').toLowerCase().replaceAll(' ', '-'),
    label: ['tail', ...name].join(' + '),
    pipelining,
    width,
    tailBatching: true,
    create: (job: PoolsJob, options: PolicyOptions) => {
      const config = tailPipeliningConfigOf(job, pipelining, width, settings);
      return create(tailPipelining, config, options) as unknown as DrivenPolicy;
    },
  });
}
