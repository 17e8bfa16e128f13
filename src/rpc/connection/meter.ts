/** Measurements of a server, to which a host can pass its own meter. */
import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';

/** Receives measurements of a server. Each method must be fast, and must not throw. */
export interface Meter {
  /** Counts an answered call, with code 0 or the code of its error. */
  called(method: string, code: number, seconds: number): void;
  /** Counts an applied event and its decisions. */
  applied(policy: string, event: AnyEvent, decisions: readonly AnyDecision[]): void;
  /** Counts a `timer.fired` from the server that the policy has refused. */
  timerRefused(policy: string, error: unknown): void;
  /** Counts a write to the state directory, with its operations and its seconds. */
  committed(operations: number, seconds: number): void;
  /** Counts lines that were written to the decision log. */
  logged(lines: number, bytes: number): void;
  /** Counts dropped lines of the decision log, by reason: too much was waiting, the disk refused them, or they were too long. */
  logDropped(reason: 'waiting' | 'failed' | 'tooLong', lines: number): void;
  /** Counts a refused call, by the code of the refusal and, for `limit_exceeded`, the name of the limit, if it is one of the server. */
  refused(code: string, limit: string | undefined): void;
  /** Counts a connection that the server has closed: the client did not read, did not show the token, or there were too many. */
  closed(because: 'cutOff' | 'turnedAway' | 'full'): void;
}

const nothing = (): void => undefined;

/** A meter that measures nothing. */
export const noMeter: Meter = Object.freeze({
  called: nothing,
  applied: nothing,
  timerRefused: nothing,
  committed: nothing,
  logged: nothing,
  logDropped: nothing,
  refused: nothing,
  closed: nothing,
});
