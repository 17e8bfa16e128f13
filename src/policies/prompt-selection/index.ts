/**
 * The policy `prompt-selection`, with its types.
 *
 * @packageDocumentation
 */

export type * from '../../generated/settings/prompt-selection.ts';
export { promptSelection } from './prompt-selection.ts';
