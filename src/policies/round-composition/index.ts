/**
 * The policy `round-composition`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/round-composition.ts';
export { roundComposition } from './round-composition.ts';
