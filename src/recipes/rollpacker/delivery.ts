/** Events for parts of the recipe. */
import type { AnyEvent } from '../../core/definition.ts';
import type { Delivery } from '../../core/recipe.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { VocabularyEvent } from '../../schemas/events/index.ts';

/** A decision by its type. */
export type Decision<T extends VocabularyDecision['type']> = Extract<VocabularyDecision, { type: T }>;

/** An event for a part. */
export const to = (part: string, event: VocabularyEvent | VocabularyDecision): Delivery => ({
  part,
  event: event as AnyEvent,
});
