/** How much a session holds: the ids in the ledgers of its policy, counted as they enter and leave. */
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../core/definition.ts';
import { PolicyError } from '../errors.ts';

/** The ids that one session holds. */
export class InFlight {
  readonly #ledgers: AnyPolicyDefinition['ledgers'];
  readonly #most: number;
  #held = 0;

  /** @param saved - the state that the session begins with */
  constructor(definition: AnyPolicyDefinition, saved: unknown, most: number) {
    this.#ledgers = definition.ledgers;
    this.#most = most;
    for (const ledger of this.#ledgers) this.#held += ledger.held(saved).length;
  }

  get held(): number {
    return this.#held;
  }

  /** How many ids an event brings; refuses one that would take the session past its bound, with `limit_exceeded`. */
  check(event: AnyEvent): number {
    const entering = this.entering(event);
    if (entering === 0 || this.#held + entering <= this.#most) return entering;
    const expected = `at most ${this.#most} ids in flight in a session`;
    throw new PolicyError('limit_exceeded', { expected, got: this.#held + entering, path: 'events' });
  }

  /** Counts an event that was applied. */
  count(entering: number, decisions: readonly AnyDecision[]): void {
    this.#held += entering;
    for (const ledger of this.#ledgers) {
      for (const decision of decisions) this.#held -= ledger.left(decision).length;
    }
  }

  /** How many ids an event brings. */
  entering(event: AnyEvent): number {
    let entering = 0;
    try {
      for (const ledger of this.#ledgers) entering += ledger.entered(event).length;
    } catch {
      // An event without the fields that it should have: the policy says which.
      return 0;
    }
    return entering;
  }
}
