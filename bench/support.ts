/** What the benchmarks share: a median, and a line about the machine. */
import { cpus } from 'node:os';

/** The middle of the runs. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

/** Where the figures were measured. */
export function machine(): string {
  return `${cpus()[0]?.model.trim() ?? 'unknown CPU'}, ${cpus().length} cores, Node ${process.version}; medians of 5 runs`;
}
