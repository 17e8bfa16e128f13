/**
 * The recipe `flexrl`, with its types.
 *
 * @packageDocumentation
 */

export { flexrl } from './flexrl.ts';
export type * from './types.ts';
