/** Delivers decisions to the listeners of a policy: an error of one listener does not affect the others. */
import { EventEmitter } from 'eventemitter3';
import type { AnyDecision, AnyEvent } from './definition.ts';

/** Payload of `listener.error`. */
export interface ListenerFailure {
  /** The error that the listener threw, or with which its promise was rejected. */
  readonly error: unknown;
  /** The decision that was being delivered, if any. */
  readonly decision?: AnyDecision;
  /** The event that a listener sent and the policy refused later, if any. */
  readonly event?: AnyEvent;
}

/** The typed event map: each decision by its type, every decision as `decision`, and `listener.error`. */
export type PolicyEvents<D extends AnyDecision> = {
  [T in D['type']]: Extract<D, { type: T }>;
} & { decision: D; 'listener.error': ListenerFailure };

type Listener = (payload: never) => void;

/** The listeners of a policy. */
export class Listeners<D extends AnyDecision> {
  readonly #emitter = new EventEmitter<Record<string, [unknown]>>();
  readonly #guards = new WeakMap<Listener, Map<string, (payload: unknown) => void>>();

  add(type: string, listener: Listener): void {
    this.#emitter.on(type, this.#guard(type, listener));
  }

  remove(type: string, listener: Listener): void {
    const guard = this.#guards.get(listener)?.get(type);
    if (guard !== undefined) this.#emitter.off(type, guard);
  }

  /** Delivers the decisions of a list, from the index `from` on. */
  deliver(decisions: readonly D[], from: number): void {
    for (let index = from; index < decisions.length; index += 1) {
      const decision = decisions[index]!;
      this.#emitter.emit(decision.type, decision);
      this.#emitter.emit('decision', decision);
    }
  }

  /** Emits `listener.error` for a failure during delivery, or writes it to the console if `listener.error` has no listener. */
  fail(failure: ListenerFailure): void {
    if (this.#emitter.emit('listener.error', failure)) return;
    const about = failure.decision?.type ?? `the event ${failure.event?.type}, which it sent`;
    // Some engines in which a policy is embedded have no console.
    globalThis.console?.error(`rollflex: a listener has failed on ${about}:`, failure.error);
  }

  /** Wraps a listener so that an error of the listener, thrown or rejected, reaches neither `send` nor later listeners. */
  #guard(type: string, listener: Listener): (payload: unknown) => void {
    const failed = (error: unknown, payload: unknown): void => {
      if (type !== 'listener.error') this.fail({ error, decision: payload as AnyDecision });
    };
    const guard = (payload: unknown): void => {
      try {
        const result: unknown = listener(payload as never);
        if (result instanceof Promise) result.catch((error) => failed(error, payload));
      } catch (error) {
        failed(error, payload);
      }
    };
    const byType = this.#guards.get(listener) ?? new Map<string, (payload: unknown) => void>();
    this.#guards.set(listener, byType.set(type, guard));
    return guard;
  }
}
