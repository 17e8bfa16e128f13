/**
 * The simulator of rollflex: the time that a scheduling policy would save on your own response lengths.
 *
 * @packageDocumentation
 */

export * from './browser.ts';
export { reportClient, writeReport } from './report/write.ts';
