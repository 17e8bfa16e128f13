/** Law 2: nothing is lost. Every ledger of a policy balances after every event. */
import { isPolicyError } from '../../errors.ts';
import { addTo, multisetOf, textOfSet } from '../host-checks/multiset.ts';
import { answer, newSubject } from '../runs/run.ts';
import type { Case } from './law.ts';

/** Throws if the content of a ledger is not exactly the ids that have entered and not left. */
export function conserved({ definition, config, events }: Case): void {
  const subject = newSubject(definition, config);
  if (definition.ledgers.length === 0) throw new Error('it declares no ledger');
  const heldNow = () => definition.ledgers.map((ledger) => multisetOf(ledger.held(subject.snapshot().state)));
  let before = heldNow();
  for (const event of events) {
    const given = answer(subject, event);
    // After `apply` has failed on an event, nothing can be counted; law 3 reports the failure.
    if ('refused' in given && isPolicyError(given.refused) && given.refused.code === 'internal') return;
    const after = heldNow();
    const decisions = 'refused' in given ? [] : given.decisions;
    definition.ledgers.forEach((ledger, index) => {
      const expected = before[index]!;
      if (!('refused' in given)) for (const id of ledger.entered(event)) addTo(expected, id, 1);
      for (const decision of decisions) for (const id of ledger.left(decision)) addTo(expected, id, -1);
      const [want, got] = [textOfSet(expected), textOfSet(after[index]!)];
      if (want === got) return;
      throw new Error(`ledger ${ledger.name}, after ${JSON.stringify(event)}: expected ${want}, held ${got}`);
    });
    before = after;
  }
}
