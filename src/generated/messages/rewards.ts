// Generated from the schemas by `npm run docs:generate`: do not edit.
/** Events and decisions: rewards. */
import type { Because, Stamped } from './objects.ts';

/**
 * The host has judged a collected prompt (filter `host`).
 *
 * Event `prompt.judged`.
 */
export interface PromptJudged extends Stamped<'prompt.judged'> {
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Whether the prompt counts. */
  keep: boolean;
}

/**
 * The reward of a completed response is known: send it unasked. A round waits for rewards only where its filter reads
 * them; `group-assembly` waits for all.
 *
 * Event `reward.ready`.
 */
export interface RewardReady extends Stamped<'reward.ready'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** The raw reward, not a shaped one. */
  reward: number;
}

/**
 * A judgement of a prompt that is not waiting for one any more: nothing changes.
 *
 * Notice `judgement.late`.
 */
export interface JudgementLate extends Stamped<'judgement.late'> {
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Why, with the numbers. */
  reason: Because<'not_waiting'>['reason'];
}

/**
 * Judge a collected prompt by `prompt.judged`: the judgement is needed, and did not come unasked.
 *
 * Command `judgement.request`; answered by `prompt.judged`.
 */
export interface JudgementRequest extends Stamped<'judgement.request'> {
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Id of the rollout round, given by the host; new for every round. At most 512 characters. */
  roundId: string;
  /** Data domain of the prompt, such as `math` or `code`. At most 512 characters. */
  domain?: string | undefined;
  /** Requests of its held responses, by index. Each: at most 1,200 characters. */
  requestIds: string[];
  /** Why, with the numbers. */
  reason: Because<'round_opened' | 'host_restarted'>['reason'];
}

/**
 * Send the reward of a completed response by `reward.ready`: it is needed, and did not come unasked.
 *
 * Command `reward.request`; answered by `reward.ready`.
 */
export interface RewardRequest extends Stamped<'reward.request'> {
  /** Id of the request, minted by the policy. At most 1,200 characters. */
  requestId: string;
  /** Id of the prompt, given by the host. At most 512 characters. */
  promptId: string;
  /** Data domain of the prompt, such as `math` or `code`. At most 512 characters. */
  domain?: string | undefined;
  /** Why, with the numbers. */
  reason: Because<'kept_without_reward' | 'round_opened' | 'host_restarted'>['reason'];
}
