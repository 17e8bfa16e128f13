/** The state as JSON, and back. */
import { z } from 'zod';
import { RecentIds } from '../../core/recent-ids.ts';
import { publicationId, updateId } from '../../schemas/pipelining.ts';
import { groupId } from '../../schemas/training.ts';
import { count, idPrefix, positiveCount, roundId, seconds, tokens, weightVersion } from '../../schemas/units.ts';
import type { PipeliningConfig } from './schema.ts';
import {
  type Group,
  newRound,
  newState,
  type PipeliningState,
  publicationIdOf,
  type Round,
  type Update,
} from './state.ts';

const group = z.strictObject({ groupId, samples: positiveCount, tokens });
const update = z.strictObject({
  groups: z.array(group).min(1),
  updateId,
  attempts: positiveCount,
  consumed: z.array(groupId).nullable(),
  consumedSeconds: seconds,
});
const round = z.strictObject({
  roundId,
  weightVersion,
  known: z.array(groupId),
  waiting: z.array(group),
  updates: z.array(update),
  stepped: count,
  isStepping: z.boolean(),
  trainable: count,
  dropped: count,
  dispatches: count,
  isFailed: z.boolean(),
  publicationId: publicationId.nullable(),
  times: z.strictObject({
    openedSeconds: seconds,
    firstBatchSeconds: seconds.nullable(),
    firstDispatchSeconds: seconds.nullable(),
    closedSeconds: seconds.nullable(),
    lastStepSeconds: seconds.nullable(),
    idleSinceSeconds: seconds.nullable(),
    waitSeconds: seconds,
    computeSeconds: seconds,
  }),
});

const savedState = z.strictObject({
  rounds: z.array(round),
  recentRounds: z.array(roundId),
  weightVersion,
  prefix: idPrefix,
  oldPrefixes: z.array(idPrefix),
  nextUpdate: count,
  nextPublication: count,
  withdrawnSteps: z.array(updateId),
});

/** Whether the marks of a round fit its updates: everything else can be, some of it only after an odd host. */
function isWhole(
  { updates, stepped, isStepping, publicationId: publication, times }: z.output<typeof round>,
  index: number,
): boolean {
  if (index > 0 && updates.length > 0) return false;
  if (stepped + (isStepping ? 1 : 0) > updates.length) return false;
  return publication === null || (times.closedSeconds !== null && stepped === updates.length);
}

/**
 * Version 1 gave publications no id. One that was under way gets one that no host has been told: until `host.restarted`
 * nothing confirms it.
 */
export function migrateFromOne(given: unknown): unknown {
  const saved = given as { rounds: { isPublishing: boolean; wasPublished: boolean }[]; prefix: string };
  let nextPublication = 0;
  const rounds = saved.rounds.map(({ isPublishing, wasPublished: _, ...rest }) => {
    return { ...rest, publicationId: isPublishing ? publicationIdOf(saved.prefix, nextPublication++) : null };
  });
  return { ...saved, rounds, nextPublication, withdrawnSteps: [] };
}

/** Schema of the saved state. */
export const pipeliningSnapshot = savedState.refine(({ rounds }) => rounds.every(isWhole), {
  message: 'updates of the first round only, and no more steps than updates',
  path: ['rounds'],
});
/** The saved state. */
export type SavedPipelining = z.output<typeof pipeliningSnapshot>;
type SavedRound = SavedPipelining['rounds'][number];

const copyGroups = (groups: Iterable<Group>): Group[] => Array.from(groups, (one) => ({ ...one }));

/** The whole state as JSON. */
export function save(state: PipeliningState): SavedPipelining {
  const { recentRounds, weightVersion: version, prefix, oldPrefixes, withdrawnSteps } = state;
  const { nextUpdate, nextPublication } = state;
  return {
    rounds: Array.from(state.rounds.values(), saveRound),
    recentRounds: [...recentRounds],
    weightVersion: version,
    prefix,
    oldPrefixes: [...oldPrefixes],
    nextUpdate,
    nextPublication,
    withdrawnSteps: [...withdrawnSteps],
  };
}

function saveRound({ known, waiting, updates, times, ...rest }: Round): SavedRound {
  return {
    ...rest,
    known: [...known],
    waiting: copyGroups(waiting),
    updates: updates.map(({ index: _, groups, consumed, ...one }) => {
      return { ...one, groups: copyGroups(groups), consumed: consumed === null ? null : [...consumed] };
    }),
    times: { ...times },
  };
}

/** The state that was saved. */
export function load(saved: SavedPipelining, config: PipeliningConfig): PipeliningState {
  const { rounds, recentRounds, oldPrefixes, withdrawnSteps, ...rest } = saved;
  const state: PipeliningState = { ...newState(config), ...rest };
  state.recentRounds = new RecentIds(recentRounds);
  state.withdrawnSteps = new RecentIds(withdrawnSteps);
  state.oldPrefixes.push(...oldPrefixes);
  for (const one of rounds) state.rounds.set(one.roundId, loadRound(one));
  state.head = state.rounds.values().next().value ?? null;
  for (const one of state.head?.updates.slice(state.head.stepped) ?? []) state.live.set(one.updateId, one);
  return state;
}

function loadRound({ known, waiting, updates, times, ...rest }: SavedRound): Round {
  const loaded: Round = {
    ...newRound(rest.roundId, rest.weightVersion, times.openedSeconds),
    ...rest,
    known: new Set(known),
    updates: updates.map(({ groups, consumed, ...one }, index): Update => {
      return { index, ...one, groups: copyGroups(groups), consumed: consumed === null ? null : new Set(consumed) };
    }),
    times: { ...times },
  };
  for (const one of copyGroups(waiting)) loaded.waiting.push(one);
  return loaded;
}
