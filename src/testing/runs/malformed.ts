/** Makes malformed events from a valid event: every policy must refuse them. */
import type { AnyEvent } from '../../core/machine/definition.ts';
import { pathText } from '../../core/machine/validate.ts';
import { isObject, objectPaths, replaced, valuePaths } from './values.ts';

/** An event that no schema accepts. */
export interface Malformed {
  /** Description of the fault, such as `tokens of another type`. */
  readonly what: string;
  /** The event. */
  readonly event: unknown;
}

/** Returns values of other types, and numbers that JSON cannot express. */
export function wrongFor(value: unknown): unknown[] {
  if (Array.isArray(value)) return [null, {}, 'text'];
  if (isObject(value)) return [null, 'text', 7];
  if (typeof value === 'number') return [null, String(value), Number.NaN, Number.POSITIVE_INFINITY, {}];
  return [null, {}, typeof value === 'string' ? 7 : 'text'];
}

/**
 * Makes events that are malformed as a whole: the time or the type is absent or wrong, a key is unknown, or the event is no object.
 */
export function malformedEvents(event: AnyEvent): Malformed[] {
  return [
    { what: 'an unknown key', event: { ...event, unknownKey: 1 } },
    { what: 'a time that is no number', event: { ...event, at: Number.NaN } },
    { what: 'a negative time', event: { ...event, at: -1 } },
    { what: 'an unknown type', event: { ...event, type: 'no.such.event' } },
    { what: 'no time', event: { type: event.type } },
    { what: 'null', event: null },
  ];
}

/**
 * Returns the given events, and in addition a copy of the event for each place, with a value of another type there, and for each
 * object, with an unknown key.
 */
export function malformedCopies(event: AnyEvent): Malformed[] {
  const inside = objectPaths(event).map((path) => {
    const at = [...path, 'unknownKey'];
    return { what: `an unknown key ${pathText(at)}`, event: replaced(event, at, 1) };
  });
  const typed = valuePaths(event).flatMap(([path, value]) =>
    wrongFor(value).map((wrong) => {
      return { what: `${pathText(path)} = ${String(wrong)}`, event: replaced(event, path, wrong) };
    }),
  );
  return [...malformedEvents(event), ...inside, ...typed];
}
