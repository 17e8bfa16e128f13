/** The words of a recipe that takes and answers with what its parts do. */
import type { AnyPolicyDefinition } from '../core/definition.ts';
import type { Parts } from '../core/recipe.ts';
import type { decisions } from '../schemas/decisions/index.ts';
import type { events } from '../schemas/events/index.ts';
import { byName, type EventWord } from '../schemas/vocabulary.ts';

// From the parts, and not from the whole vocabulary: who takes one recipe does not need the words of the others.
const once = <W extends EventWord>(words: readonly W[]): readonly W[] =>
  byName([...new Map(words.map((word) => [word.type, word])).values()]);

/** Every decision that a part may make, by name. */
export const partDecisions = (parts: Parts): readonly (typeof decisions)[number][] =>
  once(Object.values(parts).flatMap((part) => part.decisions)) as never;

/** Every event that a part takes, by name. */
export const partEvents = (parts: Parts): readonly (typeof events)[number][] =>
  once(Object.values(parts).flatMap((part) => part.events)) as never;

/** Whether a recipe takes events of a type from outside. */
export const isTaken = ({ events }: AnyPolicyDefinition, type: string): boolean =>
  events.some((word) => word.type === type);
