export { rewardDispatch } from './reward-dispatch.ts';
export { type RewardDispatchConfig, type RewardDispatchInput, rewardDispatchConfig } from './schema.ts';
export type { RewardDecision, RewardEvent } from './words.ts';
