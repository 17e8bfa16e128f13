/**
 * The recipe `rollpacker`, with its types.
 *
 * @packageDocumentation
 */

export { rollpacker } from './rollpacker.ts';
export { rollpackerConfig } from './schema.ts';
export type * from './types.ts';
