/** Applies a fault to an engine, and passes the part that concerns connections to a listener. */
import type { Fault } from '../faults.ts';
import type { Agenda } from './agenda.ts';
import type { MockEngine } from './mock-engine.ts';

/** The effect of a fault on connections. */
export type ConnectionFault =
  | { readonly kind: 'down' | 'up' | 'resumed' }
  | { readonly kind: 'reset'; readonly rid: string }
  | { readonly kind: 'refuse'; readonly count: number; readonly status: number };

/** A listener for the faults that concern connections. */
export type FaultListener = (fault: ConnectionFault, engine: MockEngine) => void;

export function applyFault(
  fault: Fault,
  engine: MockEngine,
  time: { readonly now: number; readonly agenda: Agenda },
  tell: (fault: ConnectionFault) => void,
): void {
  const later = (seconds: number, run: () => void): void => void time.agenda.at(time.now + seconds, run);
  const restart = (): void => {
    engine.restart();
    tell({ kind: 'up' });
  };
  const resume = (): void => {
    engine.unhang();
    tell({ kind: 'resumed' });
  };
  switch (fault.fault) {
    case 'crash':
      engine.crash();
      tell({ kind: 'down' });
      if (fault.restartAfterSeconds !== undefined) later(fault.restartAfterSeconds, restart);
      return;
    case 'restart':
      return restart();
    case 'reset':
      return tell({ kind: 'reset', rid: fault.rid ?? '' });
    case 'hang':
      engine.hang();
      if (fault.seconds !== undefined) later(fault.seconds, resume);
      return;
    case 'resume':
      return resume();
    case 'slow':
      return engine.slow(fault.factor);
    case 'shrink-kv':
      return engine.shrink(fault.tokens);
    case 'ignore-aborts':
      engine.abortsToIgnore += fault.count;
      return;
    case 'refuse':
      return tell({ kind: 'refuse', count: fault.count, status: fault.status });
  }
}
