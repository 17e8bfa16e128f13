/** What the rollout of each round has brought so far. */
import { z } from 'zod';
import { copyPrompt, type Prompt } from '../../../schemas/prompts.ts';
import { positiveCount } from '../../../schemas/units.ts';

/** Schema of the configuration. */
export const collectionConfig = z.strictObject({
  responsesPerPrompt: positiveCount,
  otherVersions: z.enum(['refuse', 'drop']),
});
export type CollectionConfig = z.output<typeof collectionConfig>;

/** A request in an engine, and then its response. */
export interface Response {
  readonly requestId: string;
  readonly index: number;
  readonly group: Group;
  isCompleted: boolean;
  tokens: number;
  weightVersions?: readonly number[];
  /** Whether its reward is known, or known not to come. */
  isRewarded: boolean;
}

/** A prompt of a round, with its responses. */
export interface Group {
  readonly prompt: Prompt;
  readonly round: Round;
  readonly responses: Map<string, Response>;
  /**
   * `opened`: no request has come; `generating`; then its responses `count`, and wait for rewards; `over`: it is trained,
   * or never will be.
   */
  status: 'opened' | 'generating' | 'counts' | 'over';
}

/** A round, until all of its rewards are known. */
export interface Round {
  readonly roundId: string;
  readonly kind: 'short' | 'long';
  readonly weightVersion: number;
  readonly openedSeconds: number;
  /** In the order of the round. */
  readonly groups: Map<string, Group>;
  /** Groups that have not left. */
  generating: number;
  /** Groups with a response. */
  counted: number;
}

export interface CollectionState {
  readonly config: CollectionConfig;
  readonly rounds: Map<string, Round>;
  /** Groups that have not left, by prompt. */
  readonly generating: Map<string, Group>;
  readonly responses: Map<string, Response>;
}

export function newState(config: CollectionConfig): CollectionState {
  return { config, rounds: new Map(), generating: new Map(), responses: new Map() };
}

/** A round at its opening. */
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

/** A request that was let into an engine. */
export function addResponse(state: CollectionState, group: Group, id: string, index: number): Response {
  const response = { requestId: id, index, group, isCompleted: false, tokens: 0, isRewarded: false };
  group.responses.set(id, response);
  state.responses.set(id, response);
  return response;
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

/** Whether responses of a group are still to come. */
export const isGenerated = ({ status }: Group): boolean => status === 'opened' || status === 'generating';

/** What a group has completed, by index. */
export function completedOf({ responses }: Group): Response[] {
  return [...responses.values()].filter((one) => one.isCompleted).sort((a, b) => a.index - b.index);
}
