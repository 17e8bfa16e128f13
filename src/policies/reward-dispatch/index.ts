export { type RewardEvent, rewardDispatch } from './reward-dispatch.ts';
export { kindOfDomain, type RewardDispatchConfig, type RewardDispatchInput, rewardDispatchConfig } from './schema.ts';
export type { RewardDecision } from './words.ts';
