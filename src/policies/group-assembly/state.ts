/** The state of group-assembly. */
import type { FinalPrompt } from '../../schemas/prompts.ts';
import type { AssemblyConfig } from './schema.ts';

/** One response: `undefined` while its reward is awaited, `null` if it will never have one. */
export interface Member {
  readonly requestId: string;
  owner: Group;
  tokens: number;
  /** Versions of the weights that generated it, if not that of the round alone. */
  weightVersions?: readonly number[];
  reward: number | null | undefined;
}

/** The responses of one occurrence of a prompt. */
export interface Group {
  readonly promptId: string;
  /** The round that it counts for; `null` while it does not count. */
  round: Round | null;
  readonly members: Map<string, Member>;
  promptTokens: number | undefined;
  readonly domain: string | undefined;
  /** Members without a reward that may still come; of no meaning while it does not count. */
  waiting: number;
  /** When it counted. */
  since: number;
}

/** What a completed round has said. */
export interface Completed {
  readonly kind: 'short' | 'long';
  readonly weightVersion: number;
  readonly prompts: FinalPrompt[];
  readonly at: number;
}

/** A round with groups that wait for rewards, or that is not complete. */
export interface Round {
  readonly roundId: string;
  readonly groups: Map<string, Group>;
  /** Prompts that count and get no reward at all. */
  readonly unrewarded: Set<string>;
  /** Groups that wait. */
  waiting: number;
  completed: Completed | null;
}

export interface AssemblyState {
  readonly config: AssemblyConfig;
  /** Prompts that do not count yet, by id. */
  readonly open: Map<string, Group>;
  readonly byRequest: Map<string, Member>;
  readonly rounds: Map<string, Round>;
}

export function newState(config: AssemblyConfig): AssemblyState {
  return { config, open: new Map(), byRequest: new Map(), rounds: new Map() };
}

export function newGroup(id: string, itsDomain: string | undefined): Group {
  return {
    promptId: id,
    round: null,
    members: new Map(),
    promptTokens: undefined,
    domain: itsDomain,
    waiting: 0,
    since: 0,
  };
}

export function newRound(id: string): Round {
  return { roundId: id, groups: new Map(), unrewarded: new Set(), waiting: 0, completed: null };
}

/** Puts a response into a group, and where rewards find it. */
export function addMember(state: AssemblyState, owner: Group, id: string, reward: Member['reward']): Member {
  const member: Member = { requestId: id, owner, tokens: 0, reward };
  owner.members.set(id, member);
  state.byRequest.set(id, member);
  if (reward === undefined) owner.waiting += 1;
  return member;
}

/**
 * Moves a response to another group, with the reward that it has, else with this one: a reward that failed while its
 * prompt was away may have been given since. Rewards find it as before.
 */
export function moveMember(owner: Group, member: Member, reward: Member['reward']): Member {
  member.owner.members.delete(member.requestId);
  member.owner = owner;
  if (typeof member.reward !== 'number') member.reward = reward ?? member.reward;
  owner.members.set(member.requestId, member);
  if (member.reward === undefined) owner.waiting += 1;
  return member;
}

/** No reward finds the responses of this group any more. */
export function forget(state: AssemblyState, group: Group): void {
  for (const requestId of group.members.keys()) state.byRequest.delete(requestId);
}

/** Fills in what is known of a response when its prompt counts. */
export function describe(member: Member, ownTokens: number, weightVersions: readonly number[] | undefined): void {
  member.tokens = ownTokens;
  if (weightVersions !== undefined) member.weightVersions = weightVersions.slice();
}

/** Every group, in the order in which they are saved. */
export function allGroups({ open, rounds }: AssemblyState): Group[] {
  return [...open.values(), ...[...rounds.values()].flatMap((round) => [...round.groups.values()])];
}
