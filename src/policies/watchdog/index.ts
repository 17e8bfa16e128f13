/**
 * The policy `watchdog`, with its types.
 *
 * @packageDocumentation
 */
export type * from './types.ts';
export { watchdog } from './watchdog.ts';
