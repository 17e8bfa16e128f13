/** What a host is told, what it has measured, and what it leaves to the next one. */
import { create, type PolicyOf, rolloutPipe } from 'rollflex';
import type { Saved } from './durable.ts';
import type { Task } from './tasks.ts';
import type { TrainingGroup } from './trainer.ts';

/** What is to be done. */
export interface HostOptions {
  readonly rounds: number;
  /** R: groups of a round. */
  readonly groups: number;
  /** K: responses of a group. */
  readonly responses: number;
  /** U: groups of an update. */
  readonly groupsPerUpdate: number;
  readonly frontier: boolean;
  /** F_w: groups in service at once. */
  readonly width: number;
  readonly pipelining: boolean;
  /** Tries of a response. */
  readonly tries: number;
  /** Prompts, in the order in which they are trained on. */
  readonly prompts: readonly string[];
}

/** What a round was like, as the policy has measured it. */
export interface Measured {
  readonly roundId: string;
  readonly firstDispatchSeconds: number;
  readonly rolloutSeconds: number;
  readonly trainEndSeconds: number;
  readonly waitSeconds: number;
}

/** Everything that a host knows, beside its tasks. */
export interface HostState {
  readonly snapshot: unknown;
  /** Which host this is, from 1. Each has its own prefix for ids. */
  readonly boot: number;
  /** Rounds that were opened. */
  readonly opened: number;
  /** What the trainer has to be told of groups that are trainable: `train.dispatch` only names them. */
  readonly trainable: readonly (readonly [groupId: string, group: TrainingGroup])[];
  readonly measured: readonly Measured[];
}

/** What an earlier host has left. */
export type Left = Saved<HostState, Task> | undefined;

/** Which host goes on from there: one more than the last that has written anything. */
export const bootAfter = (left: Left): number => (left?.state.boot ?? 0) + 1;
/** What stands before every id of a host. */
export const prefixOf = (boot: number): string => `boot-${boot}:`;

/** Tasks of an update, by what they are about. */
export const trainKey = (roundId: string, update: number): string => `train ${roundId} ${update}`;
export const stepKey = (roundId: string, update: number): string => `step ${roundId} ${update}`;

/** A recipe at its beginning, with a frontier and pipelining as the options say. */
export function newJob(options: HostOptions, idPrefix: string): PolicyOf<typeof rolloutPipe> {
  const { responses, groupsPerUpdate, width, pipelining, frontier } = options;
  const globalBatchSamples = groupsPerUpdate * responses;
  return create(rolloutPipe, {
    responsesPerPrompt: responses,
    globalBatchSamples,
    width,
    pipelining,
    frontier,
    awaitRetries: true,
    idPrefix,
  });
}
