/** The state of group-assembly. */
import { z } from 'zod';
import type { Live } from '../../core/machine/definition.ts';
import { derived, mapBy, setOf } from '../../core/machine/state.ts';
import type { GroupAssemblyConfig } from '../../generated/settings/group-assembly.ts';
import { finalPrompt } from '../../schemas/prompts.ts';
import { count, domain, promptId, requestId, roundId, roundKind, seconds, weightVersion } from '../../schemas/units.ts';

const member = z.strictObject({
  requestId,
  tokens: count,
  /** Versions of the weights that generated the response; absent if this was only the version of the round. */
  weightVersions: z.array(weightVersion).optional(),
  /** The reward: `undefined` while it is missing, `null` if it will never come. */
  reward: z.number().nullable().optional(),
  owner: derived<Group>(),
});
/** A response of a group. */
export interface Member extends z.output<typeof member> {}

const group = z.strictObject({
  promptId,
  domain: domain.optional(),
  promptTokens: count.optional(),
  members: mapBy('requestId', member),
  /** Time when the prompt counted, in seconds. */
  since: seconds,
  /** The round for which the prompt counts; `null` while it does not count. */
  round: derived<Round | null>(),
  /** Number of members whose reward may still come; meaningless while the prompt does not count. */
  waiting: derived(() => 0),
});
/** The responses of one occurrence of a prompt. */
export interface Group extends z.output<typeof group> {}

const round = z.strictObject({
  roundId,
  groups: mapBy('promptId', group),
  /** Prompts that count but got no reward at all. */
  unrewarded: setOf(promptId),
  completed: z.strictObject({ kind: roundKind, weightVersion, prompts: z.array(finalPrompt), at: seconds }).nullable(),
  /** Number of groups that wait for rewards. */
  waiting: derived(() => 0),
});
/** A round with groups that wait for rewards, or that is not complete. */
export interface Round extends z.output<typeof round> {}

export const assemblyState = z.strictObject({
  rounds: mapBy('roundId', round),
  /** Prompts that do not count yet. */
  open: mapBy('promptId', group),
  byRequest: derived(() => new Map<string, Member>()),
});
export type AssemblyState = Live<z.output<typeof assemblyState>, GroupAssemblyConfig>;
export type SavedAssembly = z.input<typeof assemblyState>;

export function link(state: AssemblyState): void {
  for (const one of state.open.values()) linkGroup(state, one, null);
  for (const one of state.rounds.values()) {
    for (const each of one.groups.values()) linkGroup(state, each, one);
  }
}

function linkGroup({ byRequest }: AssemblyState, one: Group, its: Round | null): void {
  one.round = its;
  for (const each of one.members.values()) {
    each.owner = one;
    byRequest.set(each.requestId, each);
    if (each.reward === undefined) one.waiting += 1;
  }
  if (its !== null && one.waiting > 0) its.waiting += 1;
}

export function newGroup(promptId: string, domain: string | undefined): Group {
  return { promptId, domain, promptTokens: undefined, members: new Map(), since: 0, round: null, waiting: 0 };
}

/** Puts a response into a group, and into the index for rewards. */
export function addMember(state: AssemblyState, owner: Group, id: string, reward: Member['reward']): Member {
  const member: Member = { requestId: id, owner, tokens: 0, reward };
  owner.members.set(id, member);
  state.byRequest.set(id, member);
  if (reward === undefined) owner.waiting += 1;
  return member;
}

/**
 * Moves a response to another group. The response keeps its own reward; a response without a reward gets the given one, which may
 * have come after a failure while the prompt was away. Rewards still find the response.
 */
export function moveMember(owner: Group, member: Member, reward: Member['reward']): Member {
  member.owner.members.delete(member.requestId);
  member.owner = owner;
  if (typeof member.reward !== 'number') member.reward = reward ?? member.reward;
  owner.members.set(member.requestId, member);
  if (member.reward === undefined) owner.waiting += 1;
  return member;
}

/** Removes a group from the indices, so that no reward finds its responses any more. */
export function forget(state: AssemblyState, group: Group): void {
  for (const requestId of group.members.keys()) state.byRequest.delete(requestId);
}

/** Sets the tokens and weight versions of a response whose prompt now counts. */
export function describe(member: Member, ownTokens: number, weightVersions: readonly number[] | undefined): void {
  member.tokens = ownTokens;
  if (weightVersions !== undefined) member.weightVersions = weightVersions.slice();
}

/** Returns all groups, in the order in which they are saved. */
export function allGroups({ open, rounds }: AssemblyState): Group[] {
  return [...open.values(), ...[...rounds.values()].flatMap((round) => [...round.groups.values()])];
}
