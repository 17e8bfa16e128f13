/**
 * Bounds the size of a session: counts the ids in the ledgers of its policy, and for each id also the ids that the policy may mint
 * for it.
 */
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../core/definition.ts';
import { refuse } from '../errors.ts';

/** Ids that an event adds to a session. */
export interface Entering {
  /** Ids that enter ledgers by the event itself. */
  readonly ids: number;
  /** These ids, plus the ids that may be minted for them. */
  readonly promised: number;
  /**
   * Whether the event may be refused because of these ids. Minted ids are never refused: they were counted with an earlier event.
   */
  readonly isIntake: boolean;
}

const nothing: Entering = Object.freeze({ ids: 0, promised: 0, isIntake: false });

/** Counts the ids that one session holds. */
export class InFlight {
  readonly #ledgers: AnyPolicyDefinition['ledgers'];
  /** By ledger: most ids that may be minted for one id. */
  readonly #mints: readonly number[];
  readonly #someMint: boolean;
  readonly #most: number;
  #held = 0;
  #promised = 0;

  /** @param start - configuration, and the first state of the session */
  constructor(definition: AnyPolicyDefinition, start: { config: unknown; state: unknown }, most: number) {
    this.#ledgers = definition.ledgers;
    this.#mints = definition.ledgers.map((ledger) => ledger.mints?.(start.config) ?? 0);
    this.#someMint = this.#mints.some((one) => one > 0);
    this.#most = most;
    this.#ledgers.forEach((ledger, at) => {
      this.#add(ledger.held(start.state).length, at);
    });
  }

  /** Number of ids in ledgers. */
  get held(): number {
    return this.#held;
  }

  /**
   * Counts the ids that an event would add, and checks the bound.
   *
   * @throws PolicyError `limit_exceeded` for an event that would exceed the bound of the session
   */
  check(event: AnyEvent): Entering {
    const entering = this.entering(event);
    if (!entering.isIntake) return entering;
    const promised = this.#promised + entering.promised;
    if (promised <= this.#most) return entering;
    const expected = `at most ${this.#most} ids in flight in a session, with those that the policy mints`;
    refuse('limit_exceeded', 'events', expected, promised);
  }

  /** Adds the ids of an applied event, and subtracts the ids that its decisions hand over. */
  count(entering: Entering, decisions: readonly AnyDecision[]): void {
    if (entering !== nothing) {
      this.#held += entering.ids;
      this.#promised += entering.promised;
    }
    if (decisions.length === 0) return;
    const ledgers = this.#ledgers;
    // Most lists have one item, so that a loop by index, as below, is faster; this code runs for every event.
    for (let at = 0; at < ledgers.length; at += 1) {
      const ledger = ledgers[at]!;
      let left = 0;
      for (let next = 0; next < decisions.length; next += 1) left += ledger.left(decisions[next]!).length;
      if (left > 0) this.#add(-left, at);
    }
  }

  /** Counts the ids that an event would add, without checking the bound. */
  entering(event: AnyEvent): Entering {
    const ledgers = this.#ledgers;
    let ids = 0;
    let promised = 0;
    let isIntake = false;
    try {
      for (let at = 0; at < ledgers.length; at += 1) {
        const entered = ledgers[at]!.entered(event).length;
        if (entered === 0) continue;
        const mints = this.#mints[at]!;
        ids += entered;
        promised += entered * (1 + mints);
        isIntake ||= mints > 0 || !this.#someMint;
      }
    } catch {
      // The policy refuses an event that lacks fields, and its error shows them.
      return nothing;
    }
    return ids === 0 ? nothing : { ids, promised, isIntake };
  }

  #add(ids: number, ledger: number): void {
    this.#held += ids;
    this.#promised += ids * (1 + this.#mints[ledger]!);
  }
}
