/**
 * The recipe `rollpacker`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/rollpacker.ts';
export { rollpacker } from './rollpacker.ts';
