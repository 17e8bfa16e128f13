/** Law 2 along a long run: what entered and has not left, counted event by event, and held against the state now and then. */
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { addTo, type Multiset, multisetOf, textOfSet } from '../../src/testing/host-checks/multiset.ts';

/** The ledgers of one policy. */
export class Books {
  readonly #ledgers: AnyPolicyDefinition['ledgers'];
  readonly #counts: Multiset[];

  /** @param saved - the state to go on from */
  constructor({ ledgers, id }: AnyPolicyDefinition, saved: unknown) {
    if (ledgers.length === 0) throw new Error(`law 2: ${id} declares no ledger`);
    this.#ledgers = ledgers;
    this.#counts = ledgers.map((ledger) => multisetOf(ledger.held(saved)));
  }

  /** An accepted event and what it led to. Throws where more left than was there. */
  enter(event: AnyEvent, decisions: readonly AnyDecision[]): void {
    this.#ledgers.forEach((ledger, index) => {
      const counts = this.#counts[index]!;
      for (const id of ledger.entered(event)) addTo(counts, id, 1);
      const gone = decisions.flatMap((decision) => ledger.left(decision));
      for (const id of gone) addTo(counts, id, -1);
      const missing = gone.find((id) => (counts.get(id) ?? 0) < 0);
      if (missing !== undefined) throw new Error(`law 2: ledger ${ledger.name}: ${missing} left, and was not there`);
    });
  }

  /** Throws if the state holds something else than the books say. */
  compareWith(saved: unknown): void {
    this.#ledgers.forEach((ledger, index) => {
      const [want, got] = [textOfSet(this.#counts[index]!), textOfSet(multisetOf(ledger.held(saved)))];
      if (want !== got) throw new Error(`law 2: ledger ${ledger.name}: expected ${want}, held ${got}`);
    });
  }
}
