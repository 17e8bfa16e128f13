/** Durations as a page has them: in a sentence, and on a chart. */
import { duration } from '../../logs/explain/duration.ts';

/** A duration as people say it, which is not broken into two lines. */
export const spoken = (seconds: number): string => duration(seconds).replace(' ', '\u00a0');
/** A duration on a chart, where others are beside it. */
export const measured = (seconds: number): string => duration(seconds, 'measured');
