/** How the state of group-assembly is saved, and read again. */
import { z } from 'zod';
import { finalPrompt } from '../../schemas/prompts.ts';
import {
  count,
  domain,
  promptId,
  requestId,
  roundId,
  roundKind,
  seconds,
  tokens,
  weightVersion,
} from '../../schemas/units.ts';
import type { AssemblyConfig } from './schema.ts';
import { type AssemblyState, addMember, allGroups, describe, newGroup, newState } from './state.ts';

const groupSchema = z.strictObject({
  promptId,
  roundId: roundId.nullable(),
  members: z.array(
    z.strictObject({
      requestId,
      tokens,
      weightVersions: z.array(weightVersion).optional(),
      reward: z.number().nullable().optional(),
    }),
  ),
  promptTokens: tokens.optional(),
  domain: domain.optional(),
  since: seconds,
});

/** Schema of the saved state. */
export const assemblySnapshot = z.strictObject({
  rounds: z.array(
    z.strictObject({
      roundId,
      unrewarded: z.array(promptId),
      waiting: count,
      completed: z
        .strictObject({
          kind: roundKind,
          weightVersion,
          prompts: z.array(finalPrompt),
          at: seconds,
        })
        .nullable(),
    }),
  ),
  groups: z.array(groupSchema),
});

export type SavedAssembly = z.output<typeof assemblySnapshot>;

export function save(state: AssemblyState): SavedAssembly {
  return structuredClone({
    rounds: [...state.rounds.values()].map(({ roundId: id, unrewarded, waiting, completed }) => ({
      roundId: id,
      unrewarded: [...unrewarded],
      waiting,
      completed,
    })),
    groups: allGroups(state).map(({ promptId: id, round, members, promptTokens, domain: own, since }) => ({
      promptId: id,
      roundId: round?.roundId ?? null,
      members: [...members.values()].map(({ requestId: request, tokens: own, weightVersions, reward }) => ({
        requestId: request,
        tokens: own,
        ...(weightVersions === undefined ? {} : { weightVersions: [...weightVersions] }),
        ...(reward === undefined ? {} : { reward }),
      })),
      ...(promptTokens === undefined ? {} : { promptTokens }),
      ...(own === undefined ? {} : { domain: own }),
      since,
    })),
  });
}

export function load(given: SavedAssembly, config: AssemblyConfig): AssemblyState {
  const saved = structuredClone(given);
  const state = newState(config);
  for (const { roundId: id, unrewarded, waiting, completed } of saved.rounds) {
    state.rounds.set(id, { roundId: id, groups: new Map(), unrewarded: new Set(unrewarded), waiting, completed });
  }
  for (const one of saved.groups) {
    const group = newGroup(one.promptId, one.domain);
    group.since = one.since;
    group.promptTokens = one.promptTokens;
    for (const { requestId: request, tokens: own, weightVersions, reward } of one.members) {
      describe(addMember(state, group, request, reward), own, weightVersions);
    }
    if (one.roundId === null) state.open.set(one.promptId, group);
    else {
      group.round = state.rounds.get(one.roundId)!;
      group.round.groups.set(one.promptId, group);
    }
  }
  return state;
}

/**
 * Version 1 said of a complete round whether it had failed; one that fails is handed over at once, so that it said `false`.
 * Whatever else it says is left for the check of the state to refuse, with its path.
 */
export function migrateFromOne(given: unknown): unknown {
  const saved = structuredClone(given) as { rounds?: { completed?: { isFailed?: unknown } | null }[] } | null;
  if (!Array.isArray(saved?.rounds)) return saved;
  for (const round of saved.rounds) if (round?.completed?.isFailed === false) delete round.completed.isFailed;
  return saved;
}
