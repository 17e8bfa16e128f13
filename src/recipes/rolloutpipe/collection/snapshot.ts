/** How the collection is saved. */
import { z } from 'zod';
import { groupKey } from '../../../core/trained-groups.ts';
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
  isGenerated,
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
      groups: z.array(z.strictObject({ prompt, status: z.enum(['opened', 'generating', 'counts', 'over']) })),
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
      if (!isGenerated(group)) continue;
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
      if (!isGenerated(group) && completedOf(group).length > 0) round.counted += 1;
    }
  }
  return state;
}

/** Version 1 did not say of which groups no request had come: those that wait are asked for twice by the next restart. */
export function migrateFromOne(given: unknown): unknown {
  const saved = structuredClone(given) as Partial<SavedCollection> | null;
  if (!Array.isArray(saved?.rounds) || !Array.isArray(saved.responses)) return saved;
  const known = new Set(saved.responses.map((one) => groupKey(one?.roundId, one?.promptId)));
  for (const round of saved.rounds) {
    for (const group of Array.isArray(round?.groups) ? round.groups : []) {
      const isKnown = known.has(groupKey(round.roundId, group?.prompt?.promptId));
      if (group?.status === 'generating' && !isKnown) group.status = 'opened';
    }
  }
  return saved;
}
