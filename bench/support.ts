/** What the benchmarks share: a median, a mean, and a line about the machine. */
import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

/** The middle of the runs. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

/** The mean; not a number of none. */
export const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

/** Where the figures were measured. */
export function machine(runs = 5): string {
  return `${cpus()[0]?.model.trim() ?? 'unknown CPU'}, ${cpus().length} cores, Node ${process.version}; medians of ${runs} runs`;
}

/** The command line as users run it. Throws where it is not built. */
export function builtCli(): string {
  const path = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
  if (existsSync(path)) return path;
  throw new Error('build it first: npm run build');
}
