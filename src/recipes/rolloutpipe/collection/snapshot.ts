/** How the collection is saved. */
import { z } from 'zod';
import { copyPrompt, prompt } from '../../../schemas/prompts.ts';
import {
  count,
  promptId,
  requestId,
  roundId,
  roundKind,
  seconds,
  tokens,
  weightVersion,
} from '../../../schemas/units.ts';
import {
  addResponse,
  addRound,
  type CollectionConfig,
  type CollectionState,
  completedOf,
  type Group,
  newState,
} from './state.ts';

/** Schema of the saved state. */
export const collectionSnapshot = z.strictObject({
  rounds: z.array(
    z.strictObject({
      roundId,
      kind: roundKind,
      weightVersion,
      openedSeconds: seconds,
      groups: z.array(z.strictObject({ prompt, status: z.enum(['generating', 'counts', 'over']) })),
    }),
  ),
  responses: z.array(
    z.strictObject({
      roundId,
      promptId,
      requestId,
      index: count,
      isCompleted: z.boolean(),
      tokens,
      weightVersions: z.array(weightVersion).min(1).optional(),
      isRewarded: z.boolean(),
    }),
  ),
});
export type SavedCollection = z.output<typeof collectionSnapshot>;

export function save({ rounds, responses }: CollectionState): SavedCollection {
  return {
    rounds: [...rounds.values()].map(({ groups, generating: _, counted: _counted, ...one }) => ({
      ...one,
      groups: [...groups.values()].map((group) => ({ prompt: copyPrompt(group.prompt), status: group.status })),
    })),
    responses: [...responses.values()].map(({ group, weightVersions, ...one }) => ({
      roundId: group.round.roundId,
      promptId: group.prompt.promptId,
      ...one,
      ...(weightVersions === undefined ? undefined : { weightVersions: weightVersions.slice() }),
    })),
  };
}

export function load(saved: SavedCollection, config: CollectionConfig): CollectionState {
  const state = newState(config);
  for (const { groups, ...one } of saved.rounds) {
    const round = addRound(state, { ...one, prompts: [] });
    for (const { prompt: own, status } of groups) {
      const group: Group = { prompt: copyPrompt(own), round, responses: new Map(), status };
      round.groups.set(own.promptId, group);
      if (status !== 'generating') continue;
      round.generating += 1;
      state.generating.set(own.promptId, group);
    }
  }
  for (const { roundId: round, promptId: id, weightVersions, ...one } of saved.responses) {
    const group = state.rounds.get(round)!.groups.get(id)!;
    const response = Object.assign(addResponse(state, group, one.requestId, one.index), one);
    if (weightVersions !== undefined) response.weightVersions = weightVersions.slice();
  }
  for (const round of state.rounds.values()) {
    for (const group of round.groups.values()) {
      if (group.status !== 'generating' && completedOf(group).length > 0) round.counted += 1;
    }
  }
  return state;
}
