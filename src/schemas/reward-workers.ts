/** Ids and bounds of reward workers and of dispatches to them. */
import { z } from 'zod';
import { idText } from './units.ts';

/** Kind of reward: by a rule, in a sandbox, or by a judge. */
export const rewardKind = z
  .enum(['rule', 'sandbox', 'judge'])
  .describe('`rule`: a check such as of a mathematical answer; `sandbox`: code is run; `judge`: an LLM judges.');
/** A reward worker's id, given by the host. */
export const workerId = idText(512).describe('Id of the reward worker, given by the host.');
/** A dispatch's id, minted by the policy: `<idPrefix>reward/<number>`, never reused. */
export const dispatchId = idText(256).describe('Id of the dispatch, minted by the policy.');
/** Time that a worker may take: more than 0, at most 1,000,000 seconds. */
export const rewardBudgetSeconds = z
  .number()
  .positive()
  .max(1e6)
  .describe('Seconds that the worker may take, > 0, at most 1,000,000.');

/** One of the kinds of reward. */
export type RewardKind = z.output<typeof rewardKind>;
