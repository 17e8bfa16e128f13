export { flexrl } from './flexrl.ts';
export { type FlexrlConfig, type FlexrlInput, flexrlConfig } from './schema.ts';
