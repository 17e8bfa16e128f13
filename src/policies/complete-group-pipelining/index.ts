export { completeGroupPipelining } from './complete-group-pipelining.ts';
export { type PipeliningConfig, type PipeliningInput, pipeliningConfig } from './schema.ts';
export { type PipeliningDecision, type PipeliningEvent, trainerReports } from './words.ts';
