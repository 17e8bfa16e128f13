/**
 * The simulator of rollflex: it estimates the time that a scheduling policy saves for your own response lengths.
 *
 * @packageDocumentation
 */

export * from './browser.ts';
export { reportClient, writeReport } from './report/write.ts';
