/** Likely next events: events of the admission, with a requested round in the place of an opened one. */

import type { Choices } from '../../core/generators/choices.ts';
import type { EventOf } from '../../core/machine/definition.ts';
import type { RecipeState } from '../../core/recipe/spec.ts';
import type { PromptSelectionEvent } from '../../generated/settings/prompt-selection.ts';
import type { TailBatchingConfig } from '../../generated/settings/tail-batching.ts';
import { arbitrary as selection } from '../../policies/prompt-selection/arbitrary.ts';
import { arbitrary as ofAdmission } from '../../policies/speculative-admission/arbitrary.ts';
import type { tailBatching } from './tail-batching.ts';

type TailEvent = EventOf<typeof tailBatching>;

const ofSelection = new Set(['prompts.supplied', 'group.rewarded', 'source.exhausted', 'source.reopened']);

/** Draws an event for the selection of prompts, seldom where it is off; `undefined` if another part may have its turn. */
export function fromSelection({ parts, config }: RecipeState, choices: Choices): PromptSelectionEvent | undefined {
  const isSelecting = (config as Pick<TailBatchingConfig, 'promptSelection'>).promptSelection !== undefined;
  if (choices.below(isSelecting ? 3 : 60) > 0) return undefined;
  const event = selection(parts.selection as never, choices);
  return ofSelection.has(event.type) ? event : undefined;
}

/** Draws a likely next event. */
export function arbitrary(state: RecipeState, choices: Choices): TailEvent {
  const selected = fromSelection(state, choices);
  if (selected !== undefined) return selected as TailEvent;
  const event = ofAdmission(state.parts.admission as never, choices);
  if (event.type !== 'round.opened') return event as TailEvent;
  const { at, roundId, weightVersion } = event;
  return { type: 'round.requested', at, roundId, weightVersion };
}
