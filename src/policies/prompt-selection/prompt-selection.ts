/**
 * Prompt selection: rolls out the prompts whose responses are expected to teach most for their tokens, and passes others over, of
 * which none is starved. See README.md.
 */
import { definePolicy, handlersOf, type PolicyDefinitionOf } from '../../core/machine/definition.ts';
import { promptLedgers } from '../../core/rollout/prompts.ts';
import type { PromptSelectionDecision, PromptSelectionTypes } from '../../generated/settings/prompt-selection.ts';
import { groupRewarded } from '../../schemas/decisions/groups.ts';
import {
  promptCounted,
  promptDeferred,
  promptFiltered,
  promptMerged,
  promptReturned,
} from '../../schemas/decisions/prompts.ts';
import { promptsRequest, sourceDrained } from '../../schemas/decisions/rounds.ts';
import { epochEnded, promptsPassed, promptsSelected } from '../../schemas/decisions/selection.ts';
import {
  promptsSupplied,
  roundFailed,
  roundRequested,
  sourceExhausted,
  sourceReopened,
} from '../../schemas/events/rounds.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import { learnCounted, learnRewarded } from './knowledge.ts';
import { checkKnown, checkNew, comeBack, exhaust, lack, request, restart, supply } from './rounds.ts';
import { selectionConfig } from './schema.ts';
import { begin, type SavedSelection, type SelectionState, selectionState } from './state.ts';
import { gates, waits } from './waits.ts';

const decisions = [promptsRequest, promptsSelected, promptsPassed, promptMerged, epochEnded, sourceDrained] as const;

const on = handlersOf<SelectionState, PromptSelectionDecision>();
const handlers = [
  on(roundRequested, request, checkNew),
  on(promptsRequest, (state, { roundId, count }, ctx) => lack(state, roundId, count, ctx), checkKnown),
  on(promptsSupplied, supply, checkKnown),
  on(sourceExhausted, exhaust),
  on(sourceReopened, (state) => {
    state.exhausted = false;
  }),
  on(
    roundFailed,
    (state, { roundId }) => {
      if (state.need?.roundId === roundId) state.need = null;
    },
    checkKnown,
  ),
  on([promptDeferred, promptReturned], comeBack),
  on([promptCounted, promptFiltered], learnCounted),
  on(groupRewarded, learnRewarded),
  on(hostRestarted, restart),
];

/** Takes the prompts that are worth their tokens. */
export const promptSelection: PolicyDefinitionOf<PromptSelectionTypes, SelectionState, SavedSelection> = definePolicy({
  id: 'prompt-selection',
  version: 1,
  summary: 'Rolls out the prompts whose responses are expected to teach most for their tokens.',
  source: 'rollflex',
  config: selectionConfig,
  state: selectionState,
  begin,
  handlers,
  decisions,
  ledgers: promptLedgers<SavedSelection>(({ taken, last }) => [...taken, ...last].map(({ prompt }) => prompt)),
  waits,
  gates,
});
