export { completeGroupPipelining } from './complete-group-pipelining.ts';
export { type PipeliningConfig, type PipeliningInput, pipeliningConfig } from './schema.ts';
export type { PipeliningDecision, PipeliningEvent } from './words.ts';
