/**
 * The simulator of rollflex: the time that a scheduling policy would save on your own response lengths. Beside what a browser has, it
 * writes files.
 *
 * @module sim
 * @packageDocumentation
 */

export * from './index.ts';
export { reportClient, writeReport } from './report/write.ts';
