/** Durations on a page: in a sentence, and on a chart. */
import { duration } from '../../logs/explain/duration.ts';

/** A duration in spoken form, without line breaks. */
export const spoken = (seconds: number): string => duration(seconds).replace(' ', '\u00a0');
/** A duration on a chart, beside others. */
export const measured = (seconds: number): string => duration(seconds, 'measured');
