/**
 * The recipe `flexrl`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/flexrl.ts';
export { flexrl } from './flexrl.ts';
