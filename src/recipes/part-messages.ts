/** The events and decisions of a recipe, taken from its parts. */
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../core/machine/definition.ts';
import type { Parts } from '../core/recipe/spec.ts';
import { byName, type DecisionMessage, type EventMessage } from '../schemas/vocabulary.ts';

// The messages come from the parts and not from the whole vocabulary, so that a bundle of one recipe does not contain the
// messages of the others.
function once<W extends EventMessage>(messages: readonly W[], except: Iterable<string>): readonly W[] {
  const byType = new Map(messages.map((message) => [message.type, message]));
  for (const type of except) byType.delete(type);
  return byName([...byType.values()]);
}

/** Returns the decisions of all parts without repetitions, except the given ones. */
export const partDecisions = <D extends AnyDecision>(
  parts: Parts,
  except: Iterable<string> = [],
): readonly DecisionMessage<D['type']>[] =>
  once(
    Object.values(parts).flatMap((part) => part.decisions),
    except,
  ) as never;

/** Returns the events of all parts without repetitions, except the given ones. */
export const partEvents = <E extends AnyEvent>(
  parts: Parts,
  except: Iterable<string> = [],
): readonly EventMessage<E['type']>[] =>
  once(
    Object.values(parts).flatMap((part) => part.events),
    except,
  ) as never;

/**
 * Returns the part that has set a timer. The id of a timer begins with the id of its policy; if no part fits, the admission has
 * set the timer.
 */
export function timerPart<Name extends string>(
  parts: Readonly<Record<Name, AnyPolicyDefinition>>,
  timerId: string,
): Name | 'admission' {
  const id = timerId.slice(0, timerId.indexOf('/'));
  const names = Object.keys(parts) as Name[];
  return names.find((name) => parts[name].id === id && isTaken(parts[name], 'timer.fired')) ?? 'admission';
}

/** Whether a recipe takes events of a type from outside. */
export const isTaken = ({ events }: AnyPolicyDefinition, type: string): boolean =>
  events.some((message) => message.type === type);
