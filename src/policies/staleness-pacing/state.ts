/** The state of staleness-pacing. The order of launches, the window and the counts of each version are derived. */
import { z } from 'zod';
import { fifoOf } from '../../core/collections/fifo.ts';
import { IndexedHeap } from '../../core/collections/heap.ts';
import { LinkedList } from '../../core/collections/linked-list.ts';
import { mintedId, prefixes } from '../../core/ids/minted-ids.ts';
import { recentIds } from '../../core/ids/recent-ids.ts';
import type { Live } from '../../core/machine/definition.ts';
import { derived, mapBy } from '../../core/machine/state.ts';
import type { StalenessPacingConfig } from '../../generated/settings/staleness-pacing.ts';
import { publicationId } from '../../schemas/pipelining.ts';
import { groupId, launchId, pacedGroup } from '../../schemas/training.ts';
import { count, ref, roundId, seconds, weightVersion } from '../../schemas/units.ts';

const waiting = z.strictObject({ groupId, ref: ref.optional() });
/** A prompt that is not launched yet. */
export type WaitingPrompt = z.output<typeof waiting>;

const group = z.strictObject({
  groupId,
  ref: ref.optional(),
  launchId,
  /** Weight version at the launch: the group's first token is of this version or a later one. */
  startVersion: weightVersion,
  /** Number in the order of launches. */
  seq: count,
  /** Whether the group has all its responses and waits for a batch. */
  isComplete: z.boolean(),
  /** Time of the launch, or of the completion, in seconds. */
  since: seconds,
  samples: count,
  tokens: count,
  /** Whether the group is one of the W oldest groups. */
  isInWindow: derived(() => false),
  heapIndex: derived(() => -1),
  previous: derived<Group | null>(),
  next: derived<Group | null>(),
});
/** A group that is launched and in no batch yet. */
export interface Group extends z.output<typeof group> {}

/** The groups that were launched with one weight version. */
export interface Cohort {
  readonly version: number;
  groups: number;
  /** Number of complete groups in the window. */
  ready: number;
}

const batch = z.strictObject({
  publicationId,
  /** Version that the latest `train.batch` has named: that of the weights after this batch. */
  weightVersion,
  groups: z.array(pacedGroup).min(1),
  samples: count,
  tokens: count,
  /** Time of the latest `train.batch`, in seconds. */
  since: seconds,
});
/** A batch that the trainer has. */
export type Batch = z.output<typeof batch>;

export const pacingState = z.strictObject({
  round: z
    .strictObject({
      roundId,
      /** Prompts that were asked for and have not come. */
      asked: count,
      /** Number of duplicate prompts in a row, without a new prompt between them. */
      duplicates: count,
      /**
       * Whether there were so many duplicates that the source seems to have no other prompts: no prompts are requested until a
       * group has left.
       */
      onlyDuplicates: z.boolean(),
      /** Time when the last batch was decided, in seconds. */
      lastBatchAt: seconds.nullable(),
      /** Groups filtered since one was complete last, and the time of the first of these; absent before the first. */
      futile: z.strictObject({ filtered: count, since: seconds }).optional(),
    })
    .nullable(),
  recentRounds: recentIds(roundId),
  isExhausted: z.boolean(),
  /** Version of the weights that the engines have. */
  weightVersion,
  waiting: fifoOf(waiting),
  /** Groups in the order of launches, which is also the order of versions. */
  groups: mapBy('launchId', group),
  /** Batches whose weights have not arrived yet, in the order of training. */
  batches: z.array(batch),
  ...prefixes,
  nextLaunch: count,
  nextBatch: count,
  /** Prompts that are here, each with its group; `null` while the prompt waits. */
  here: derived(() => new Map<string, Group | null>()),
  line: derived(() => new LinkedList<Group>()),
  /** Number of groups in the window, and the last of these groups. */
  inWindow: derived(() => 0),
  windowEnd: derived<Group | null>(),
  /** Complete groups in the window, oldest first. */
  ready: derived(() => new IndexedHeap<Group>((a, b) => a.seq - b.seq)),
  /** Groups by start version, ascending. */
  cohorts: derived(() => new Map<number, Cohort>()),
  complete: derived(() => 0),
});
export type PacingState = Live<z.output<typeof pacingState>, StalenessPacingConfig>;
export type SavedPacing = z.input<typeof pacingState>;

/** Adds the versions of batches to a state of version 1, as they were named if no versions were skipped. */
export function migrateFromOne(saved: unknown): SavedPacing {
  const { batches, ...rest } = saved as SavedPacing;
  return {
    ...rest,
    batches: batches.map((one, index) => ({ ...one, weightVersion: rest.weightVersion + index + 1 })),
  };
}

/** Adds the count of duplicates to a state of version 2. */
export function migrateFromTwo(saved: unknown): SavedPacing {
  const { round, ...rest } = saved as SavedPacing;
  return { ...rest, round: round && { ...round, duplicates: 0 } };
}

/** Requests prompts again, although the latest prompts were here already. */
export function askAgain(round: { duplicates: number; onlyDuplicates: boolean }): void {
  round.duplicates = 0;
  round.onlyDuplicates = false;
}

export const begin = ({ idPrefix }: StalenessPacingConfig): Partial<SavedPacing> => ({ prefix: idPrefix });

export function link(state: PacingState): void {
  for (const { groupId } of state.waiting) state.here.set(groupId, null);
  for (const one of state.groups.values()) enter(state, one);
}

/** Kinds of minted ids. */
export const launchKind = 'launch#';
export const batchKind = 'batch#';

/** Number of groups that are generated. */
export const inFlight = ({ groups, complete }: PacingState): number => groups.size - complete;

/**
 * Version of the weights with which the next batch is trained. Versions named by `train.batch` hold, even if the engines report
 * such a version before the batch was reported; if the version is beyond all named ones, the host has skipped versions, and
 * batches count from there.
 */
export function nextVersion({ weightVersion, batches }: PacingState): number {
  const last = batches.at(-1);
  return last === undefined || last.weightVersion < weightVersion ? weightVersion + batches.length : last.weightVersion;
}

/** How many groups may be launched and not yet in a batch: as many as batches take before a group launched now is too old. */
export function allowed(state: PacingState): number {
  const { config, weightVersion } = state;
  return config.groupsPerBatch * Math.max(0, config.maxStaleness + 1 - (nextVersion(state) - weightVersion));
}

/** Launches a prompt: it becomes the last group of the line. */
export function launched(state: PacingState, { groupId, ref }: WaitingPrompt, at: number): Group {
  const number = state.nextLaunch++;
  const one: Group = {
    groupId,
    ...(ref === undefined ? undefined : { ref }),
    launchId: mintedId(state.prefix, launchKind, number),
    startVersion: state.weightVersion,
    seq: number,
    isComplete: false,
    since: at,
    samples: 0,
    tokens: 0,
    isInWindow: false,
    heapIndex: -1,
    previous: null,
    next: null,
  };
  putBack(state, one);
  return one;
}

/** Makes a group the last of the line. */
export function putBack(state: PacingState, one: Group): void {
  state.groups.set(one.launchId, one);
  enter(state, one);
}

function enter(state: PacingState, one: Group): void {
  const { startVersion: version } = one;
  state.here.set(one.groupId, one);
  state.line.push(one);
  const cohort = state.cohorts.get(version);
  if (cohort === undefined) state.cohorts.set(version, { version, groups: 1, ready: 0 });
  else cohort.groups += 1;
  if (one.isComplete) state.complete += 1;
  if (state.inWindow < (state.config.windowGroups ?? Number.POSITIVE_INFINITY)) admit(state, one);
}

/** Lets the first group outside the window into the window. */
function admit(state: PacingState, one: Group): void {
  one.isInWindow = true;
  state.inWindow += 1;
  state.windowEnd = one;
  if (one.isComplete) makeReady(state, one);
}

function makeReady(state: PacingState, one: Group): void {
  state.ready.update(one);
  state.cohorts.get(one.startVersion)!.ready += 1;
}

/** Marks a group as complete. */
export function complete(state: PacingState, one: Group): void {
  one.isComplete = true;
  state.complete += 1;
  if (one.isInWindow) makeReady(state, one);
}

/** Removes a group. If the group was in the window, the window moves on by one. */
export function remove(state: PacingState, one: Group): void {
  const cohort = state.cohorts.get(one.startVersion)!;
  cohort.groups -= 1;
  if (one.heapIndex >= 0) cohort.ready -= 1;
  if (cohort.groups === 0) state.cohorts.delete(one.startVersion);
  state.ready.remove(one);
  if (one.isComplete) state.complete -= 1;
  if (state.windowEnd === one) state.windowEnd = one.previous;
  state.line.remove(one);
  state.groups.delete(one.launchId);
  state.here.delete(one.groupId);
  if (!one.isInWindow) return;
  state.inWindow -= 1;
  const next = state.windowEnd === null ? state.line.peek() : state.windowEnd.next;
  if (next != null) admit(state, next);
}
