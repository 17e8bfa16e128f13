/** Law 13: the number of decisions per event has a bound that is known before the event is applied. */
import type { AnyEvent, AnyPolicyDefinition, Ledger } from '../../core/machine/definition.ts';
import { answer, newSubject } from '../runs/run.ts';
import { isObject, replaced, valuePaths } from '../runs/values.ts';
import type { Case } from './law.ts';

/** Most decisions per event and item: a start, a stop, a notice, and one more. */
const decisionsPerThing = 4;
/** Factor by which the numbers of a configuration are enlarged. */
const enlargement = 16;

/** Counts the items of all lists inside a value, at any depth. */
function itemsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let items = Array.isArray(value) ? value.length : 0;
  for (const one of Object.values(value)) items += itemsIn(one);
  return items;
}

/** Enlarges the whole numbers of a configuration (except in lists), if the configuration stays valid. */
function enlarged(definition: AnyPolicyDefinition, config: unknown): unknown {
  const isTaken = (tried: unknown): boolean => {
    try {
      newSubject(definition, tried);
      return true;
    } catch {
      return false;
    }
  };
  let large: unknown = config;
  for (const [path, value] of isObject(config) ? valuePaths(config) : []) {
    if (path.some((step) => typeof step === 'number') || !Number.isInteger(value)) continue;
    const tried = replaced(large, path, (value as number) * enlargement);
    if (isTaken(tried)) large = tried;
  }
  return large;
}

interface Minting {
  readonly ledger: Ledger<unknown, AnyEvent>;
  readonly mints: number;
}

function mintingLedgers({ ledgers }: AnyPolicyDefinition, config: unknown): Minting[] {
  return ledgers.map((ledger) => {
    const mints: number = ledger.mints?.(config as never) ?? 0;
    if (Number.isSafeInteger(mints) && mints >= 0) return { ledger, mints };
    throw new Error(`ledger ${ledger.name} says that it mints ${mints} ids for one, which is no whole number >= 0`);
  });
}

function stateAfter({ definition, config }: Case, events: readonly AnyEvent[]): unknown {
  const subject = newSubject(definition, config);
  for (const event of events) answer(subject, event);
  return subject.snapshot().state;
}

function expectBounded(one: Case): void {
  const { definition, config, events } = one;
  const ledgers = mintingLedgers(definition, definition.config.parse(config));
  const subject = newSubject(definition, config);
  for (const [index, event] of events.entries()) {
    const answered = answer(subject, event);
    if ('refused' in answered) continue;
    const decisions = answered.decisions.length;
    const things = { event: itemsIn(event), configuration: itemsIn(config), state: 0, minted: 0 };
    const most = (): number => decisionsPerThing * Object.values(things).reduce((sum, items) => sum + items, 1);
    if (decisions <= most()) continue;
    // The bound without the state is exceeded, so the items of the state before the event count too.
    const state = stateAfter(one, events.slice(0, index));
    things.state = itemsIn(state);
    for (const { ledger, mints } of ledgers) {
      if (mints > 0) things.minted += mints * (ledger.held(state).length + ledger.entered(event).length);
    }
    if (decisions <= most()) continue;
    throw new Error(
      `${JSON.stringify(event)} leads to ${decisions} decisions, and at most ${most()} are promised, ` +
        `${decisionsPerThing} for 1 and each item of ${JSON.stringify(things)}, with ${JSON.stringify(config)}`,
    );
  }
}

/**
 * Throws if an event leads to more decisions than its bound: a multiple of the number of items in the event, in the configuration
 * and in the state, and of the ids that ledgers declare to mint. A large number in a small event or configuration must not lead
 * to as many decisions. The check runs with the given configuration, and with a copy that has larger numbers.
 */
export function bounded(one: Case): void {
  expectBounded(one);
  const config = enlarged(one.definition, one.config);
  if (config !== one.config) expectBounded({ ...one, config });
}
