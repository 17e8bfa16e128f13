export { completeGroupPipelining, type PipeliningEvent, trainerReports } from './complete-group-pipelining.ts';
export { type PipeliningConfig, type PipeliningInput, pipeliningConfig } from './schema.ts';
export type { PipeliningDecision } from './words.ts';
