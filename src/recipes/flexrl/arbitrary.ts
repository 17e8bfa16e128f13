/** Likely next events: events of the loader, with an unplanned batch in the place of a planned one. */

import type { Choices } from '../../core/generators/choices.ts';
import type { EventOf } from '../../core/machine/definition.ts';
import type { RecipeState } from '../../core/recipe/spec.ts';
import { arbitrary as ofLoader } from '../../policies/shadow-loader/arbitrary.ts';
import type { flexrl } from './flexrl.ts';

/** Draws a likely next event. */
export function arbitrary({ parts }: RecipeState, choices: Choices): EventOf<typeof flexrl> {
  const event = ofLoader(parts.loader as never, choices);
  if (event.type !== 'batch.run') return event;
  const { at, batchId, stepId, assignments } = event;
  const sequences = assignments.map(({ sampleId, slices = [] }) => {
    const frames = slices.length === 0 ? {} : { frames: slices[0]!.toFrame };
    return { tokens: choices.below(5000), ...(sampleId === undefined ? undefined : { sampleId }), ...frames };
  });
  return { type: 'batch.ready', at, batchId, stepId, sequences };
}
