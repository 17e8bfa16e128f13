export { rollpacker } from './rollpacker.ts';
export { type RollpackerConfig, type RollpackerInput, rollpackerConfig } from './schema.ts';
