/** What blocks what in a recipe: the waits of its parts, joined. */
import type { AnyPolicyDefinition } from './definition.ts';
import { type AwaitedEvent, type HeldThing, isEvent, type Standing, type Waits } from './waits.ts';

/** Where an event from inside comes from: from a part, or from an event from outside with the same fields. */
export type Origin = { readonly part: string } | { readonly event: string };

/** What the waits of a recipe follow from. */
export interface PartWaits {
  readonly parts: Readonly<Record<string, AnyPolicyDefinition>>;
  /** Types of the events that come from outside. */
  readonly outside: ReadonlySet<string>;
  /** Origins of events that are no decisions of a part, by the type of the event. */
  readonly origins: Readonly<Record<string, Origin>>;
}

/** The states of the parts, by name, and the parts that are switched off. */
interface States {
  readonly parts: Readonly<Record<string, unknown>>;
  readonly wiring: { readonly off: readonly string[] };
}

/** Joins the waits of the parts. An event that comes from another part leads on to what that part holds. */
export function joinedWaits({ parts, outside, origins }: PartWaits): Waits<States> {
  const names = Object.keys(parts);
  const kinds = [...new Set(names.flatMap((name) => Object.keys(parts[name]!.waits ?? {})))];

  const standing = (state: States, name: string, what: string, id: string): Standing | undefined =>
    state.wiring.off.includes(name) ? undefined : parts[name]!.waits?.[what]?.of(state.parts[name], id);

  /** Returns the event, or what has to end before all parts accept it. */
  function* fromOutside(state: States, one: AwaitedEvent): Iterable<HeldThing | AwaitedEvent> {
    const { type } = one.event;
    const types = [
      type,
      ...Object.keys(origins).filter((inner) => (origins[inner] as { event?: string }).event === type),
    ];
    let isFree = true;
    for (const name of names) {
      if (state.wiring.off.includes(name)) continue;
      for (const each of types) {
        for (const thing of parts[name]!.gates?.[each]?.(state.parts[name]) ?? []) {
          isFree = false;
          yield thing;
        }
      }
    }
    if (isFree) yield one;
  }

  /** Returns what other parts hold under an id that the event names, or the event from outside that leads to it. */
  function* inside(state: States, one: AwaitedEvent, from: string): Iterable<HeldThing | AwaitedEvent> {
    const { type, ...fields } = one.event;
    const origin = origins[type];
    if (origin !== undefined && 'event' in origin) {
      yield* fromOutside(state, { ...one, event: { ...fields, type: origin.event } });
      return;
    }
    const decides = (name: string): boolean => parts[name]!.decisions.some((message) => message.type === type);
    const makers = origin === undefined ? names.filter((name) => name !== from && decides(name)) : [origin.part];
    for (const id of Object.values(fields)) {
      if (typeof id !== 'string') continue;
      for (const part of makers) {
        for (const what of Object.keys(parts[part]!.waits ?? {})) {
          if (standing(state, part, what, id) !== undefined) yield { what, id, part };
        }
      }
    }
  }

  function* joined(state: States, all: readonly (readonly [name: string, standing: Standing])[]) {
    for (const [name, one] of all) {
      for (const next of one.for) {
        if (!isEvent(next)) yield next;
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
    return first && { ...first[1], for: joined(state, all) };
  };

  return Object.fromEntries(
    kinds.map((what) => [
      what,
      {
        ids: (state: States) =>
          new Set(
            names
              .filter((name) => !state.wiring.off.includes(name))
              .flatMap((name) => [...(parts[name]!.waits?.[what]?.ids(state.parts[name]) ?? [])]),
          ),
        of: (state: States, id: string, part?: string) => of(state, what, id, part),
      },
    ]),
  );
}
