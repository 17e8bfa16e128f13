/** The decisions of a recipe that answers with whatever its parts answer with. */
import type { Parts } from '../core/recipe.ts';
import { decisions } from '../schemas/decisions/index.ts';

/** Every decision of the vocabulary that a part has. */
export function partDecisions(parts: Parts): readonly (typeof decisions)[number][] {
  const types = new Set(Object.values(parts).flatMap((part) => part.decisions.map((word) => word.type)));
  return decisions.filter((word) => types.has(word.type));
}
