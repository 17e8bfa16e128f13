export { frontierGroupDispatch } from './frontier-group-dispatch.ts';
export { frontierConfig } from './schema.ts';
export type * from './types.ts';
