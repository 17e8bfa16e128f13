/** The state of the collection: the responses of each round so far. */

import { z } from 'zod';
import type { Live } from '../../../core/machine/definition.ts';
import { derived, mapBy } from '../../../core/machine/state.ts';
import { copyPrompt } from '../../../core/rollout/prompts.ts';
import { restartVersions } from '../../../core/rollout/restart-versions.ts';
import { type Prompt, prompt } from '../../../schemas/prompts.ts';
import {
  count,
  positiveCount,
  promptId,
  requestId,
  roundId,
  roundKind,
  seconds,
  tokens,
  weightVersion,
} from '../../../schemas/units.ts';

export const collectionConfig = z.strictObject({
  responsesPerPrompt: positiveCount,
  otherVersions: z.enum(['refuse', 'drop']),
});

const response = z.strictObject({
  roundId,
  promptId,
  requestId,
  index: count,
  isCompleted: z.boolean(),
  tokens,
  weightVersions: z.array(weightVersion).min(1).optional(),
  /** Whether the reward of the response has come, or will never come. */
  isRewarded: z.boolean(),
  group: derived<Group>(),
});
/** A request in an engine, and later its response. */
export interface Response extends z.output<typeof response> {}

const group = z.strictObject({
  prompt,
  /**
   * `opened`: no request has come; `generating`: requests run; `counts`: the responses count and wait for rewards; `over`: the
   * group is trained, or never will be.
   */
  status: z.enum(['opened', 'generating', 'counts', 'over']),
  round: derived<Round>(),
  responses: derived(() => new Map<string, Response>()),
});
/** A prompt of a round, with its responses. */
export interface Group extends z.output<typeof group> {}

const round = z.strictObject({
  roundId,
  kind: roundKind,
  weightVersion,
  restartVersions,
  openedSeconds: seconds,
  /** Groups by prompt, in the order of the round. */
  groups: mapBy((one: { prompt: Prompt }) => one.prompt.promptId, group),
  /** Number of groups whose status is `opened` or `generating`. */
  generating: derived(() => 0),
  /** Number of groups with a response. */
  counted: derived(() => 0),
});
/** A round, until all of its rewards are known. */
export interface Round extends z.output<typeof round> {}

export const collectionState = z.strictObject({
  rounds: mapBy('roundId', round),
  responses: mapBy('requestId', response),
  /** Groups whose status is `opened` or `generating`, by prompt. */
  generating: derived(() => new Map<string, Group>()),
});
/** The state of the policy. */
export type CollectionState = Live<z.output<typeof collectionState>, z.output<typeof collectionConfig>>;
export type SavedCollection = z.input<typeof collectionState>;

export function link(state: CollectionState): void {
  for (const response of state.responses.values()) {
    response.group = state.rounds.get(response.roundId)!.groups.get(response.promptId)!;
    response.group.responses.set(response.requestId, response);
  }
  for (const round of state.rounds.values()) {
    for (const group of round.groups.values()) {
      group.round = round;
      if (isGenerated(group)) {
        round.generating += 1;
        state.generating.set(group.prompt.promptId, group);
      } else if (completedOf(group).length > 0) round.counted += 1;
    }
  }
}

/** Adds a round at its opening. */
export function addRound(
  state: CollectionState,
  { prompts, ...one }: Pick<Round, 'roundId' | 'kind' | 'weightVersion' | 'openedSeconds'> & { prompts: Prompt[] },
): Round {
  const round: Round = { ...one, groups: new Map(), generating: prompts.length, counted: 0 };
  state.rounds.set(round.roundId, round);
  for (const given of prompts) {
    const group: Group = { prompt: copyPrompt(given), round, responses: new Map(), status: 'opened' };
    round.groups.set(given.promptId, group);
    state.generating.set(given.promptId, group);
  }
  return round;
}

/** Adds a request that was admitted to an engine. */
export function addResponse(state: CollectionState, group: Group, id: string, index: number): void {
  const response: Response = {
    roundId: group.round.roundId,
    promptId: group.prompt.promptId,
    requestId: id,
    index,
    isCompleted: false,
    tokens: 0,
    weightVersions: undefined,
    isRewarded: false,
    group,
  };
  group.responses.set(id, response);
  state.responses.set(id, response);
}

export function forgetResponse(state: CollectionState, { requestId: id, group }: Response): void {
  group.responses.delete(id);
  state.responses.delete(id);
}

export function forgetRound(state: CollectionState, round: Round): void {
  for (const group of round.groups.values()) {
    for (const id of group.responses.keys()) state.responses.delete(id);
    if (isGenerated(group)) state.generating.delete(group.prompt.promptId);
  }
  state.rounds.delete(round.roundId);
}

/** Whether more responses of a group may come. */
export const isGenerated = ({ status }: Group): boolean => status === 'opened' || status === 'generating';

/** Returns the completed responses of a group, in the order of their indices. */
export function completedOf({ responses }: Group): Response[] {
  return [...responses.values()].filter((one) => one.isCompleted).sort((a, b) => a.index - b.index);
}
