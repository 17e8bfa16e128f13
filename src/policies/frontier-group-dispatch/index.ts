export { type FrontierEvent, frontierGroupDispatch } from './frontier-group-dispatch.ts';
export { type FrontierConfig, type FrontierInput, frontierConfig } from './schema.ts';
export type { FrontierDecision } from './words.ts';
