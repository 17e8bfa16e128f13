export { rewardDispatch } from './reward-dispatch.ts';
export { kindOfDomain, type RewardDispatchConfig, type RewardDispatchInput, rewardDispatchConfig } from './schema.ts';
export type { RewardDecision, RewardEvent } from './words.ts';
