/** What the benchmarks share: a median, and a line about the machine. */
import { cpus } from 'node:os';
import { EventEmitter } from 'eventemitter3';

/** The middle of the runs. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

/** Where the figures were measured. */
export function machine(): string {
  return `${cpus()[0]?.model.trim() ?? 'unknown CPU'}, ${cpus().length} cores, Node ${process.version}; medians of 5 runs`;
}

/** Bare emits of eventemitter3 a second: what the events of a policy are compared with. */
export function emitsPerSecond(count: number): number {
  const emitter = new EventEmitter<{ completed: [{ requestId: string; tokens: number }] }>();
  let tokens = 0;
  emitter.on('completed', (event) => {
    tokens += event.tokens;
  });
  const start = performance.now();
  for (let index = 0; index < count; index += 1) emitter.emit('completed', { requestId: 'a', tokens: 1 });
  if (tokens !== count) throw new Error('an emit was lost');
  return count / ((performance.now() - start) / 1000);
}
