/** Measurements of a server; a host that wants figures passes its own meter. */
import type { AnyDecision, AnyEvent } from '../core/definition.ts';

/** Takes what happens in a server. Each call must be cheap, and must not throw. */
export interface Meter {
  /** A call was answered: with 0, or with the code of its error. */
  called(method: string, code: number, seconds: number): void;
  /** An event was applied. */
  applied(policy: string, event: AnyEvent, decisions: readonly AnyDecision[]): void;
  /** A `timer.fired` of the server was refused by its policy. */
  timerRefused(policy: string, error: unknown): void;
  /** Steps of sessions were written to the state directory. */
  committed(operations: number, seconds: number): void;
  /** Lines of the decision log were written. */
  logged(lines: number, bytes: number): void;
  /** Lines of the decision log were dropped: too much waited, the disk refused them, or they were too long. */
  logDropped(reason: 'waiting' | 'failed' | 'tooLong', lines: number): void;
  /** A connection was cut off because it did not read. */
  cutOff(): void;
  /** A connection was closed because it did not show the token. */
  turnedAway(): void;
}

const nothing = (): void => undefined;

/** Measures nothing. */
export const noMeter: Meter = Object.freeze({
  called: nothing,
  applied: nothing,
  timerRefused: nothing,
  committed: nothing,
  logged: nothing,
  logDropped: nothing,
  cutOff: nothing,
  turnedAway: nothing,
});
