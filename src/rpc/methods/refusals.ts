/** Counts refusals of a server by reason. */
import { PolicyError } from '../../errors.ts';
import type { Meter } from '../connection/meter.ts';
import { RpcError, toRpcError } from './errors.ts';
import type { ServerLimits } from './limits.ts';

/** Name of a limit. */
export type LimitName = keyof ServerLimits;

/** By error: the limit that was exceeded. */
const limitOf = new WeakMap<object, LimitName>();

/** Throws `limit_exceeded` for a limit. */
export function exceeded(limit: LimitName, path: string, expected: string, got: unknown): never {
  const error = new PolicyError('limit_exceeded', { path, expected, got });
  limitOf.set(error, limit);
  throw error;
}

/** Returns a refusal as plain data from which {@link Refusals} can still tell the limit. */
export function plain(error: PolicyError): ReturnType<PolicyError['toJSON']> {
  const data = error.toJSON();
  const limit = limitOf.get(error);
  if (limit !== undefined) limitOf.set(data, limit);
  return data;
}

/** Number of calls refused with a code and, for `limit_exceeded`, with the limit. */
export interface RefusedCalls {
  readonly code: string;
  readonly limit?: LimitName;
  readonly count: number;
}

/** Reason why the server has closed a connection. */
export type ClosedBecause = 'cutOff' | 'turnedAway' | 'full';

/** The counters of one server, since its start. */
export class Refusals {
  readonly #meter: Meter | undefined;
  readonly #onDefect: (error: unknown) => void;
  /** Defects that were reported: a broken policy throws the same error again and again. */
  readonly #known = new WeakSet<object>();
  readonly #calls = new Map<string, { code: string; limit?: LimitName; count: number }>();
  readonly #closed: Record<ClosedBecause, number> = { cutOff: 0, turnedAway: 0, full: 0 };

  constructor(meter: Meter | undefined, onDefect: (error: unknown) => void = () => undefined) {
    this.#meter = meter;
    this.#onDefect = onDefect;
  }

  /** Returns the counters, in the order of codes and limits. */
  get calls(): RefusedCalls[] {
    return [...this.#calls].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => ({ ...one }));
  }

  get closed(): Readonly<Record<ClosedBecause, number>> {
    return { ...this.#closed };
  }

  /** Counts a refused call by its thrown error. */
  thrown(error: unknown): void {
    const { data, cause } = toRpcError(error);
    if (data.code === 'internal') this.defect(error);
    this.call(data.code, limitOf.get(cause as object));
  }

  /** Tells the host of a defect, once. */
  defect(error: unknown): void {
    let thrown = error;
    // Causes may go in a circle.
    for (let depth = 0; depth < 8 && thrown instanceof Error && thrown.cause instanceof Error; depth += 1)
      thrown = thrown.cause;
    // The error was reported when it was thrown, before it became plain data.
    if (thrown instanceof RpcError) return;
    if (typeof thrown === 'object' && thrown !== null) {
      if (this.#known.has(thrown)) return;
      this.#known.add(thrown);
    }
    this.#onDefect(thrown);
  }

  /** Counts a refused call. */
  call(code: string, limit?: LimitName): void {
    const key = `${code} ${limit ?? ''}`;
    const counter = this.#calls.get(key);
    if (counter === undefined)
      this.#calls.set(key, limit === undefined ? { code, count: 1 } : { code, limit, count: 1 });
    else counter.count += 1;
    this.#meter?.refused(code, limit);
  }

  /** Counts a connection that the server has closed. */
  connection(because: ClosedBecause): void {
    this.#closed[because] += 1;
    this.#meter?.closed(because);
  }
}
