/**
 * Bounds the size of a session: counts the ids in the ledgers of its policy, and the ids that the policy may mint for each of
 * them.
 */
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../core/machine/definition.ts';
import type { ServerLimits } from '../methods/limits.ts';
import { exceeded } from '../methods/refusals.ts';

/** Ids that an event adds to a session. */
export interface Entering {
  /** Ids that enter ledgers by the event itself. */
  readonly ids: number;
  /** These ids plus the ids that may be minted for them. */
  readonly promised: number;
  /**
   * Whether the event may be refused because of these ids. Minted ids are never refused: they were counted with an earlier event.
   */
  readonly isIntake: boolean;
}

/** Number of ids over all sessions, with ids that may be minted for them. */
export interface Total {
  ids: number;
}

const nothing: Entering = Object.freeze({ ids: 0, promised: 0, isIntake: false });

type Limits = Pick<ServerLimits, 'maxEventIds' | 'maxInFlightIds' | 'maxTotalIds'>;

/** Counts the ids that one session holds. */
export class InFlight {
  readonly #ledgers: AnyPolicyDefinition['ledgers'];
  /** By ledger: the most ids that may be minted per id. */
  readonly #mints: readonly number[];
  readonly #someMint: boolean;
  readonly #limits: Limits;
  readonly #total: Total;
  #held = 0;
  #promised = 0;

  /** @param start - configuration, and the first state of the session */
  constructor(
    definition: AnyPolicyDefinition,
    start: { config: unknown; state: unknown },
    limits: Limits,
    total: Total = { ids: 0 },
  ) {
    this.#ledgers = definition.ledgers;
    this.#mints = definition.ledgers.map((ledger) => ledger.mints?.(start.config) ?? 0);
    this.#someMint = this.#mints.some((one) => one > 0);
    this.#limits = limits;
    this.#total = total;
    this.#ledgers.forEach((ledger, at) => {
      this.#add(ledger.held(start.state).length, at);
    });
  }

  /** Number of ids in ledgers, plus ids that may be minted for them. */
  get promised(): number {
    return this.#promised;
  }

  /** Number of ids in ledgers. */
  get held(): number {
    return this.#held;
  }

  /**
   * Counts the ids that an event would add, and checks the bound.
   *
   * @throws PolicyError `limit_exceeded` for an event that is too large, or would exceed the bound of its session or of all
   * sessions
   */
  check(event: AnyEvent): Entering {
    const entering = this.entering(event);
    if (!entering.isIntake) return entering;
    const { maxEventIds, maxInFlightIds, maxTotalIds } = this.#limits;
    const { promised } = entering;
    if (promised > maxEventIds) {
      const expected = `at most ${maxEventIds} ids in an event, with those that the policy mints: send several events`;
      exceeded('maxEventIds', 'events', expected, promised);
    }
    if (this.#promised + promised > maxInFlightIds) {
      const expected = `at most ${maxInFlightIds} ids in flight in a session, with those that the policy mints`;
      exceeded('maxInFlightIds', 'events', expected, this.#promised + promised);
    }
    if (this.#total.ids + promised > maxTotalIds) {
      const expected = `at most ${maxTotalIds} ids in flight in all sessions, with those that policies mint`;
      exceeded('maxTotalIds', 'events', expected, this.#total.ids + promised);
    }
    return entering;
  }

  /** Adds the ids of an applied event, and subtracts ids that its decisions hand over. */
  count(entering: Entering, decisions: readonly AnyDecision[]): void {
    if (entering !== nothing) {
      this.#held += entering.ids;
      this.#promised += entering.promised;
      this.#total.ids += entering.promised;
    }
    if (decisions.length === 0) return;
    const ledgers = this.#ledgers;
    // Most lists have one item, for which this loop by index is faster; the code runs for every event.
    for (let at = 0; at < ledgers.length; at += 1) {
      const ledger = ledgers[at]!;
      let left = 0;
      for (let next = 0; next < decisions.length; next += 1) left += ledger.left(decisions[next]!).length;
      if (left > 0) this.#add(-left, at);
    }
  }

  /** Takes the ids out of the total, because the session ends. */
  leave(): void {
    this.#total.ids -= this.#promised;
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
    const promised = ids * (1 + this.#mints[ledger]!);
    this.#promised += promised;
    this.#total.ids += promised;
  }
}
