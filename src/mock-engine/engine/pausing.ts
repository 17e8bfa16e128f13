/** Pauses engines, and updates their weights during a pause. */
import type { MockEngine } from './mock-engine.ts';

/**
 * Treatment of an engine's requests when it pauses: `abort` them, `wait` for their end, `keep` them unchanged, or `retract` them
 * to the waiting queue without their KV cache.
 */
export type PauseMode = 'abort' | 'wait' | 'keep' | 'retract';

/** Seconds between two aborts of the remaining requests. */
const sweepSeconds = 1;
const all = (): boolean => true;

/** Aborts all requests, again and again until none is left, and then calls back. */
export function abortUntilIdle(engine: MockEngine, reach: 'scheduler' | 'all', idle: () => void): void {
  let isIdle = false;
  const sweep = (): void => {
    if (isIdle) return;
    engine.abort(all, reach);
    engine.after(sweepSeconds, sweep);
  };
  // Held requests stay, because they arrived after the pause.
  engine.whenIdle(() => {
    isIdle = true;
    idle();
  });
  if (!isIdle) sweep();
}

/** Pauses an engine, and calls back when it is paused. Requests that arrive meanwhile are held. */
export function pause(
  engine: MockEngine,
  gate: string,
  mode: PauseMode,
  reach: 'scheduler' | 'all',
  paused: () => void,
): void {
  engine.close(gate);
  switch (mode) {
    case 'abort':
      return abortUntilIdle(engine, reach, paused);
    case 'wait':
      return engine.whenIdle(paused);
    case 'keep':
      return engine.freeze(gate, paused);
    case 'retract':
      return engine.freeze(gate, () => {
        engine.retract();
        paused();
      });
  }
}

/** Continues after a pause; does nothing without one. */
export function resume(engine: MockEngine, gate: string): void {
  engine.thaw(gate);
  engine.open(gate);
}

/**
 * Updates the weights of an engine. Unless the engine is paused, new requests are held, and the update waits for running ones (as a
 * writer waits for the readers of a lock).
 */
export function updateWeights(
  engine: MockEngine,
  update: { readonly version: string | undefined; readonly seconds: number; readonly abortAll: boolean },
  done: () => void,
): void {
  const gate = engine.newGate('update');
  const load = (): void =>
    engine.after(update.seconds, () => {
      if (update.version !== undefined) engine.weightVersion = update.version;
      resume(engine, gate);
      done();
    });
  if (engine.isClosedBy('pause')) return load();
  engine.close(gate);
  if (update.abortAll) abortUntilIdle(engine, 'scheduler', load);
  else engine.whenIdle(load);
}
