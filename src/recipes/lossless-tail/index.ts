/**
 * The recipe `lossless-tail`, with its types.
 *
 * @packageDocumentation
 */

export { losslessTail } from './lossless-tail.ts';
export type * from './types.ts';
