/** The state: rounds with their trainable groups, which wait at first and later belong to updates. */

import { z } from 'zod';
import { Fifo, fifoOf } from '../../core/collections/fifo.ts';
import { checkKnown, mintedAs, type Prefixes, prefixes } from '../../core/ids/minted-ids.ts';
import { recentIds } from '../../core/ids/recent-ids.ts';
import type { Context, Live } from '../../core/machine/definition.ts';
import { derived, mapBy, setOf } from '../../core/machine/state.ts';
import { restartVersions } from '../../core/rollout/restart-versions.ts';
import type {
  CompleteGroupPipeliningConfig,
  CompleteGroupPipeliningDecision,
} from '../../generated/settings/complete-group-pipelining.ts';
import { publicationId, updateId } from '../../schemas/pipelining.ts';
import { groupId } from '../../schemas/training.ts';
import { count, positiveCount, roundId, seconds, weightVersion } from '../../schemas/units.ts';

const group = z.strictObject({ groupId, samples: positiveCount, tokens: count });
/** A trainable group. A group never changes: it only moves from the waiting groups to an update. */
export type Group = Readonly<z.output<typeof group>>;

const update = z.strictObject({
  groups: z.array(group).min(1),
  /** Id of the latest try. */
  updateId,
  attempts: positiveCount,
  /** Groups of the latest try whose gradients the trainer has reported; `null` for none. */
  consumed: setOf(groupId).nullable(),
  /** Seconds that the trainer has reported for the consumed groups. */
  consumedSeconds: seconds,
  index: derived(() => 0),
});
/** One logical update, kept from its dispatch to the end of its round, because a trainer that falls back needs it again. */
export interface Update extends z.output<typeof update> {}

const round = z.strictObject({
  roundId,
  weightVersion,
  restartVersions,
  /** Every group that was ever reported, so that no group counts twice. */
  known: setOf(groupId),
  /** Trainable groups that are in no update yet. */
  waiting: fifoOf(group),
  /** Updates in the order of training. */
  updates: z.array(update),
  /** Number of updates on which the optimizer has stepped: the first ones in `updates`. */
  stepped: count,
  /** Whether the optimizer is stepping on the next update. */
  isStepping: z.boolean(),
  /** Number of groups that became trainable. */
  trainable: count,
  /** Number of groups that were dropped. */
  dropped: count,
  /** Number of dispatches, including repeated ones. */
  dispatches: count,
  isFailed: z.boolean(),
  /** Id of the running publication; `null` if there is none. */
  publicationId: publicationId.nullable(),
  /** Times of the round, in seconds on the clock of the session. */
  times: z.strictObject({
    openedSeconds: seconds,
    /** Time when the groups of the first update became trainable. */
    firstBatchSeconds: seconds.nullable(),
    firstDispatchSeconds: seconds.nullable(),
    /** Time at which the round was rewarded or failed; no group comes after it. */
    closedSeconds: seconds.nullable(),
    /** Time when the optimizer last stepped. */
    lastStepSeconds: seconds.nullable(),
    /** Time when the publication under way was decided; absent in snapshots of earlier versions. */
    publicationSeconds: seconds.optional(),
    /**
     * Time since which the trainer waits for groups of this round; `null` while dispatched updates of the round have not stepped,
     * and until earlier rounds are over.
     */
    idleSinceSeconds: seconds.nullable(),
    waitSeconds: seconds,
    computeSeconds: seconds,
  }),
});
/** A round, from its opening to its publication. */
export interface Round extends z.output<typeof round> {}

/** Whether the counts and times of a round fit its updates. All other combinations are possible, some only with an unusual host. */
function isWhole({ updates, stepped, isStepping, publicationId: publication, times }: Round, index: number): boolean {
  if (index > 0 && updates.length > 0) return false;
  if (stepped + (isStepping ? 1 : 0) > updates.length) return false;
  return publication === null || (times.closedSeconds !== null && stepped === updates.length);
}

export const pipeliningState = z
  .strictObject({
    /** Rounds in the order of opening; the first one is trained. */
    rounds: mapBy('roundId', round),
    recentRounds: recentIds(roundId),
    /** Weight version of the round that was opened last. */
    weightVersion,
    ...prefixes,
    nextUpdate: count,
    nextPublication: count,
    /** Updates whose step was given up, although the optimizer may have made the step. */
    withdrawnSteps: recentIds(updateId),
    head: derived<Round | null>(),
    /** Updates of the first round on which the optimizer has not stepped, by the id of their last try. */
    live: derived(() => new Map<string, Update>()),
    /** U: the number of groups per update. */
    groupsPerUpdate: derived(() => 0),
  })
  .refine(({ rounds }) => [...rounds.values()].every(isWhole), {
    message: 'updates of the first round only, and no more steps than updates',
    path: ['rounds'],
  });
export type PipeliningState = Live<z.output<typeof pipeliningState>, CompleteGroupPipeliningConfig>;
export type SavedPipelining = z.input<typeof pipeliningState>;
/** The context through which handlers emit decisions. */
export type Ctx = Context<CompleteGroupPipeliningDecision>;

export const begin = ({ idPrefix }: CompleteGroupPipeliningConfig): Partial<SavedPipelining> => ({ prefix: idPrefix });

export function link(state: PipeliningState): void {
  const { globalBatchSamples, responsesPerPrompt } = state.config;
  state.groupsPerUpdate = globalBatchSamples / responsesPerPrompt;
  state.head = state.rounds.values().next().value ?? null;
  if (state.head === null) return;
  const { updates, stepped } = state.head;
  updates.forEach((one, index) => {
    one.index = index;
    if (index >= stepped) state.live.set(one.updateId, one);
  });
}

/**
 * Migrates version 1, which gave publications no id. A publication under way gets an id that no host knows, so it is confirmed only
 * after `host.restarted`.
 */
export function migrateFromOne(given: unknown): unknown {
  const saved = given as { rounds: { isPublishing: boolean; wasPublished: boolean }[] } & Prefixes;
  let nextPublication = 0;
  const rounds = saved.rounds.map(({ isPublishing, wasPublished: _, ...rest }) => {
    return { ...rest, publicationId: isPublishing ? publicationIds.of(saved, nextPublication++) : null };
  });
  return { ...saved, rounds, nextPublication, withdrawnSteps: [] };
}

/** Returns the state of a round at its opening. */
export function newRound(roundId: string, weightVersion: number, openedSeconds: number): Round {
  return {
    roundId,
    weightVersion,
    known: new Set(),
    waiting: new Fifo(),
    updates: [],
    stepped: 0,
    isStepping: false,
    trainable: 0,
    dropped: 0,
    dispatches: 0,
    isFailed: false,
    publicationId: null,
    times: {
      openedSeconds,
      firstBatchSeconds: null,
      firstDispatchSeconds: null,
      closedSeconds: null,
      lastStepSeconds: null,
      idleSinceSeconds: null,
      waitSeconds: 0,
      computeSeconds: 0,
    },
  };
}

/** Returns the round, or `undefined` if the round is over. */
export function checkRound(
  { rounds, recentRounds }: PipeliningState,
  { roundId }: { readonly roundId: string },
): Round | undefined {
  const round = rounds.get(roundId);
  if (round === undefined) checkKnown('roundId', roundId, 'a round that was opened', rounds, recentRounds);
  return round;
}

/** Returns the update that the trainer works on, or that the optimizer steps on. */
export function currentUpdate(round: Round): Update | undefined {
  return round.updates[round.stepped];
}

/** Returns the numbers of groups and updates that are in the weights. */
export function trained(round: Round): { groups: number; updates: number } {
  let groups = 0;
  for (let index = 0; index < round.stepped; index += 1) groups += round.updates[index]!.groups.length;
  return { groups, updates: round.stepped };
}

/** Ids of the tries of updates. */
export const updateIds = mintedAs('update#', 'nextUpdate');
/** Ids of the tries to publish weights. */
export const publicationIds = mintedAs('publication#', 'nextPublication');
