/**
 * The recipe `lossless-tail`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/lossless-tail.ts';
export { losslessTail } from './lossless-tail.ts';
