/** The events and decisions of a recipe: those of its parts. */
import type { AnyDecision, AnyEvent, AnyPolicyDefinition } from '../core/definition.ts';
import type { Parts } from '../core/recipe.ts';
import { byName, type DecisionMessage, type EventMessage } from '../schemas/vocabulary.ts';

// Messages come from the parts, not from the whole vocabulary: who imports one recipe does not need the messages of the others.
function once<W extends EventMessage>(messages: readonly W[], except: Iterable<string>): readonly W[] {
  const byType = new Map(messages.map((message) => [message.type, message]));
  for (const type of except) byType.delete(type);
  return byName([...byType.values()]);
}

/** Every decision that a part may make, by name, but for some. */
export const partDecisions = <D extends AnyDecision>(
  parts: Parts,
  except: Iterable<string> = [],
): readonly DecisionMessage<D['type']>[] =>
  once(
    Object.values(parts).flatMap((part) => part.decisions),
    except,
  ) as never;

/** Every event that a part takes, by name, but for some. */
export const partEvents = <E extends AnyEvent>(
  parts: Parts,
  except: Iterable<string> = [],
): readonly EventMessage<E['type']>[] =>
  once(
    Object.values(parts).flatMap((part) => part.events),
    except,
  ) as never;

/** Whether a recipe takes events of a type from outside. */
export const isTaken = ({ events }: AnyPolicyDefinition, type: string): boolean =>
  events.some((message) => message.type === type);
