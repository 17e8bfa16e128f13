/** Bare emits of eventemitter3, the yardstick that rates of events are held against. */
import { EventEmitter } from 'eventemitter3';

/** Emits a second with one listener, over so many emits. */
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
