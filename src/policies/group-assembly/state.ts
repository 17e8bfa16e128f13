/** The state of group-assembly, and how it is saved. */
import { z } from 'zod';
import { type FinalPrompt, finalPrompt } from '../../schemas/prompts.ts';
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
  readonly isFailed: boolean;
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

/** Moves a response to another group, with the reward that it has, else with this one; rewards find it as before. */
export function moveMember(owner: Group, member: Member, reward: Member['reward']): Member {
  member.owner.members.delete(member.requestId);
  member.owner = owner;
  if (member.reward === undefined) member.reward = reward;
  owner.members.set(member.requestId, member);
  if (member.reward === undefined) owner.waiting += 1;
  return member;
}

/** Fills in what is known of a response when its prompt counts. */
export function describe(member: Member, ownTokens: number, weightVersions: readonly number[] | undefined): void {
  member.tokens = ownTokens;
  if (weightVersions !== undefined) member.weightVersions = weightVersions.slice();
}

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
          isFailed: z.boolean(),
          at: seconds,
        })
        .nullable(),
    }),
  ),
  groups: z.array(groupSchema),
});

export type SavedAssembly = z.output<typeof assemblySnapshot>;

/** Every group, in the order in which they are saved. */
export function allGroups({ open, rounds }: AssemblyState): Group[] {
  return [...open.values(), ...[...rounds.values()].flatMap((round) => [...round.groups.values()])];
}

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
