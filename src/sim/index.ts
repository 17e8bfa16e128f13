/**
 * The simulator of rollflex: what a scheduling policy would save on your own response lengths.
 *
 * @packageDocumentation
 */

export * from './browser.ts';
export { reportClient, writeReport } from './report/write.ts';
