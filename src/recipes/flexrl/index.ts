/**
 * The recipe `flexrl`, with its types.
 *
 * @packageDocumentation
 */

export { flexrl } from './flexrl.ts';
export { flexrlConfig } from './schema.ts';
export type * from './types.ts';
