/** What blocks what in a recipe: the waits of its parts, joined. */
import { given } from '../collections/given.ts';
import type { AnyPolicyDefinition } from '../machine/definition.ts';
import { type AwaitedEvent, type HeldThing, isEvent, later, type Standing, type Waits } from '../why/waits.ts';

/**
 * Origin of an event that arises inside the recipe: the first of these parts that holds a thing named by the event, or an event
 * from outside with the same fields.
 */
export type Origin = { readonly parts: readonly string[] } | { readonly event: string };

/** The data from which the waits of a recipe are derived. */
export interface PartWaits {
  readonly parts: Readonly<Record<string, AnyPolicyDefinition>>;
  /** Types of the events that come from outside. */
  readonly outside: ReadonlySet<string>;
  /**
   * Origins of events that are not decisions of a part, by the event's type, or by part and type as in
   * `training/round.completed`.
   */
  readonly origins: Readonly<Record<string, Origin>>;
}

/** The states of the parts, by name, and the names of parts that are switched off. */
interface States {
  readonly parts: Readonly<Record<string, unknown>>;
  readonly wiring: { readonly off: readonly string[] };
}

/** Computes the value for each text only once. */
function remembered<Value>(make: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    let value = known.get(text);
    if (value === undefined) known.set(text, (value = make(text)));
    return value;
  };
}

/**
 * Joins the waits of the parts. Where a thing waits for an event of another part, the chain continues with what that part holds.
 */
export function joinedWaits({ parts, outside, origins }: PartWaits): Waits<States> {
  const names = Object.keys(parts);
  const kinds = [...new Set(names.flatMap((name) => Object.keys(parts[name]!.waits ?? {})))];

  const standing = (state: States, name: string, what: string, id: string): Standing | undefined =>
    state.wiring.off.includes(name) ? undefined : parts[name]!.waits?.[what]?.of(state.parts[name], id);

  const gatesOf = remembered((type: string) => {
    const isIts = (inner: string): boolean => (origins[inner] as { event?: string }).event === type;
    const types = [type, ...Object.keys(origins).filter(isIts)];
    return names.flatMap((name) =>
      types.flatMap((each) => {
        const gate = parts[name]!.gates?.[each];
        return gate === undefined ? [] : [{ name, gate }];
      }),
    );
  });

  /** Returns the event, with the time since which the last part asks for it; or what has to end before all parts accept it. */
  function* fromOutside(state: States, one: AwaitedEvent): Iterable<HeldThing | AwaitedEvent> {
    let isFree = true;
    let { since } = one;
    for (const { name, gate } of gatesOf(one.event.type)) {
      if (state.wiring.off.includes(name)) continue;
      for (const thing of gate(state.parts[name], one.event)) {
        if (isEvent(thing)) {
          since = later(since, thing.since);
          continue;
        }
        isFree = false;
        yield { ...thing, part: name };
      }
    }
    if (isFree) yield since === one.since ? one : { ...one, since };
  }

  const makersOf = remembered((type: string) =>
    names.filter((name) => parts[name]!.decisions.some((message) => message.type === type)),
  );

  /** Returns what other parts hold under an id that the event names, or the event from outside that leads to the event. */
  function* inside(state: States, one: AwaitedEvent, from: string): Iterable<HeldThing | AwaitedEvent> {
    const { type, ...fields } = one.event;
    const origin = origins[`${from}/${type}`] ?? origins[type];
    if (origin !== undefined && 'event' in origin) {
      yield* fromOutside(state, { ...one, event: { ...fields, type: origin.event } });
      return;
    }
    for (const part of origin?.parts ?? makersOf(type)) {
      if (part === from) continue;
      const held = Object.values(fields).flatMap((id) =>
        Object.keys(parts[part]!.waits ?? {}).flatMap((what) =>
          typeof id === 'string' && standing(state, part, what, id) !== undefined ? [{ what, id, part }] : [],
        ),
      );
      yield* held;
      if (origin !== undefined && held.length > 0) return;
    }
  }

  function* joined(state: States, all: readonly (readonly [name: string, standing: Standing])[]) {
    for (const [name, one] of all) {
      for (const next of one.for) {
        if (!isEvent(next)) yield { ...next, part: name };
        else if (outside.has(next.event.type)) yield* fromOutside(state, next);
        else yield* inside(state, next, name);
      }
    }
  }

  const of = (state: States, what: string, id: string, part?: string): Standing | undefined => {
    const all = (part === undefined ? names : [part]).flatMap((name) => {
      const one = standing(state, name, what, id);
      return one === undefined ? [] : [[name, one] as const];
    });
    const [first] = all;
    if (first === undefined) return undefined;
    const isCompleted = all.some(([, one]) => one.isCompleted === true);
    const kind = all.find(([, one]) => one.kind !== undefined)?.[1].kind;
    const inFlight = all.find(([, one]) => one.inFlight !== undefined)?.[1].inFlight;
    const known = { ...given({ kind, inFlight }), ...(isCompleted && { isCompleted }) };
    return { ...first[1], ...known, for: joined(state, all) };
  };

  function* idsOf(state: States, what: string): Iterable<string> {
    const seen = new Set<string>();
    for (const name of names) {
      if (state.wiring.off.includes(name)) continue;
      for (const id of parts[name]!.waits?.[what]?.ids(state.parts[name]) ?? []) {
        if (seen.has(id)) continue;
        seen.add(id);
        yield id;
      }
    }
  }

  return Object.fromEntries(
    kinds.map((what) => [
      what,
      {
        ids: (state: States) => idsOf(state, what),
        of: (state: States, id: string, part?: string) => of(state, what, id, part),
      },
    ]),
  );
}
