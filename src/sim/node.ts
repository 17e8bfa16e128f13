/**
 * The simulator of rollflex: it estimates the time that a scheduling policy saves for your own response lengths. In addition to the
 * modules for a browser, it has those that write files.
 *
 * @module sim
 * @packageDocumentation
 */

export * from './index.ts';
export { reportClient, writeReport } from './report/write.ts';
