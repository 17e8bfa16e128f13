/**
 * The recipe `rollpacker`, with its types.
 *
 * @packageDocumentation
 */

export { rollpacker } from './rollpacker.ts';
export type * from './types.ts';
