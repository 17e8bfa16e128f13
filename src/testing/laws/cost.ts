/** Law 10, checked by counting: the items that an event visits must not grow with the number in flight. */
import type { AnyEvent } from '../../core/machine/definition.ts';
import { parse } from '../../core/machine/validate.ts';
import { messageOf } from '../runs/search.ts';
import { definitionOf, type Tested } from '../runs/tested.ts';

/** Events that bring a policy to n ids in flight, and events to measure in this state. */
export interface InFlightLoad {
  /** Events that bring so many ids into flight. */
  readonly build: readonly AnyEvent[];
  /** Events whose cost is measured afterwards. */
  readonly probes: readonly AnyEvent[];
}

type Method = (this: { size?: number; length?: number }, ...args: unknown[]) => unknown;

const walks: readonly (readonly [object, readonly PropertyKey[]])[] = [
  [Map.prototype, ['forEach', 'values', 'keys', 'entries', Symbol.iterator]],
  [Set.prototype, ['forEach', 'values', 'keys', 'entries', Symbol.iterator]],
  [
    Array.prototype,
    [
      'map',
      'filter',
      'forEach',
      'find',
      'findIndex',
      'some',
      'every',
      'reduce',
      'flatMap',
      'sort',
      'slice',
      'splice',
      'indexOf',
      'includes',
      'concat',
      'values',
      'entries',
      Symbol.iterator,
    ],
  ],
];

const iterators: ReadonlySet<PropertyKey> = new Set(['values', 'keys', 'entries', Symbol.iterator]);

/** Counts the items taken from an iterator: taking the first of many items counts 1. */
function counted(iterator: Iterator<unknown>, count: () => void): Iterator<unknown> {
  const next = iterator.next.bind(iterator);
  return Object.assign(iterator, {
    next: () => {
      const given = next();
      if (given.done !== true) count();
      return given;
    },
  });
}

/** Runs a function, and counts the items that the function visits in maps, sets and arrays. */
export function itemsWalked(run: () => void): number {
  let items = 0;
  const undo: (() => void)[] = [];
  for (const [prototype, names] of walks) {
    for (const name of names) {
      const own = Object.getOwnPropertyDescriptor(prototype, name)!;
      const real = own.value as Method;
      const counting: Method = function (...args) {
        const given = real.apply(this, args);
        if (iterators.has(name)) return counted(given as Iterator<unknown>, () => void (items += 1));
        items += this.size ?? this.length ?? 0;
        return given;
      };
      Object.defineProperty(prototype, name, { ...own, value: counting });
      undo.push(() => Object.defineProperty(prototype, name, own));
    }
  }
  try {
    run();
    return items;
  } finally {
    for (const one of undo) one();
  }
}

/**
 * Checks law 10: with ten times as many ids in flight, an event may visit only as many more items as O(log n) allows.
 *
 * @param load - events that bring n into flight, and events to measure
 * @throws Error with the event and the counts; also for a malformed or refused event, and for a load that the state does not hold,
 *   which would make the check useless
 */
export function checkCost(tested: Tested, config: unknown, load: (n: number) => InFlightLoad): void {
  const definition = definitionOf(tested);
  const messages = new Map(definition.events.map((message) => [message.type, message.schema]));
  const accept = (state: unknown, event: AnyEvent, role: string): void => {
    try {
      const schema = messages.get(event.type);
      if (schema === undefined) throw new Error(`not an event of ${definition.id}`);
      parse(schema, event, 'invalid_event');
      definition.check(state, event);
    } catch (error) {
      throw new Error(`law 10, cost: ${role} is refused: ${messageOf(error)}: ${JSON.stringify(event)}`, {
        cause: error,
      });
    }
  };
  const sizes: number[] = [];
  const walked = [200, 2000].map((n) => {
    const { build, probes } = load(n);
    const state = definition.init(definition.config.parse(config));
    const apply = (event: AnyEvent): number => {
      let decisions = 0;
      definition.check(state, event);
      definition.apply(state, event, { at: event.at, emit: () => void (decisions += 1) });
      return decisions;
    };
    for (const event of build) {
      accept(state, event, 'an event of `build`');
      apply(event);
    }
    sizes.push(JSON.stringify(definition.save(state)).length);
    return probes.map((event) => {
      accept(state, event, 'a probe');
      let decisions = 0;
      const items = itemsWalked(() => {
        decisions = apply(event);
      });
      return { event, share: items / (1 + decisions) };
    });
  });
  if (sizes[1]! < 2 * sizes[0]!) {
    throw new Error(
      `law 10, cost: the state does not hold what \`build\` brings: as JSON it is ${sizes[0]} characters after n = 200, and ${sizes[1]} after n = 2,000`,
    );
  }
  walked[1]!.forEach(({ event, share }, index) => {
    const small = walked[0]![index]!.share;
    if (share <= 2 * small + 50) return;
    throw new Error(
      `law 10, cost: ${event.type} walks over ${share} items a decision with 2,000 in flight, ${small} with 200`,
    );
  });
}
