/**
 * How much a session holds: the ids in the ledgers of its policy, counted as they enter and leave, and with each those
 * that the policy may mint for it.
 */
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../core/definition.ts';
import { PolicyError } from '../errors.ts';

/** What an event brings. */
export interface Entering {
  /** Ids of ledgers. */
  readonly ids: number;
  /** The same, with those that may be minted for them. */
  readonly promised: number;
  /** Whether it may be refused for them: what is minted is promised by the event that it is minted for. */
  readonly isIntake: boolean;
}

const nothing: Entering = Object.freeze({ ids: 0, promised: 0, isIntake: false });

/** The ids that one session holds. */
export class InFlight {
  readonly #ledgers: readonly { readonly ledger: AnyPolicyDefinition['ledgers'][number]; readonly mints: number }[];
  readonly #someMint: boolean;
  readonly #most: number;
  #held = 0;
  #promised = 0;

  /** @param start - configuration, and the state that the session begins with */
  constructor(definition: AnyPolicyDefinition, start: { config: unknown; state: unknown }, most: number) {
    this.#ledgers = definition.ledgers.map((ledger) => ({ ledger, mints: ledger.mints?.(start.config) ?? 0 }));
    this.#someMint = this.#ledgers.some((one) => one.mints > 0);
    this.#most = most;
    for (const { ledger, mints } of this.#ledgers) this.#add(ledger.held(start.state).length, mints);
  }

  /** Ids of ledgers. */
  get held(): number {
    return this.#held;
  }

  /**
   * What an event brings.
   *
   * @throws PolicyError `limit_exceeded` for one that would take the session past its bound
   */
  check(event: AnyEvent): Entering {
    const entering = this.entering(event);
    const promised = this.#promised + entering.promised;
    if (!entering.isIntake || promised <= this.#most) return entering;
    const expected = `at most ${this.#most} ids in flight in a session, with those that the policy mints`;
    throw new PolicyError('limit_exceeded', { expected, got: promised, path: 'events' });
  }

  /** Counts an event that was applied. */
  count(entering: Entering, decisions: readonly AnyDecision[]): void {
    this.#held += entering.ids;
    this.#promised += entering.promised;
    for (const { ledger, mints } of this.#ledgers) {
      for (const decision of decisions) this.#add(-ledger.left(decision).length, mints);
    }
  }

  /** What an event brings. */
  entering(event: AnyEvent): Entering {
    let [ids, promised, isIntake] = [0, 0, false];
    try {
      for (const { ledger, mints } of this.#ledgers) {
        const entered = ledger.entered(event).length;
        if (entered === 0) continue;
        ids += entered;
        promised += entered * (1 + mints);
        isIntake ||= mints > 0 || !this.#someMint;
      }
    } catch {
      // An event without the fields that it should have: the policy says which.
      return nothing;
    }
    return ids === 0 ? nothing : { ids, promised, isIntake };
  }

  #add(ids: number, mints: number): void {
    this.#held += ids;
    this.#promised += ids * (1 + mints);
  }
}
