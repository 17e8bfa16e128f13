/**
 * The policy `watchdog`, with its types.
 *
 * @packageDocumentation
 */
export type * from '../../generated/settings/watchdog.ts';
export { watchdog } from './watchdog.ts';
