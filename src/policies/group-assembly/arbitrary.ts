/** Likely next events, for property tests: mostly usual ones, sometimes late, repeated or odd ones. */

import { type Choices, pick } from '../../core/generators/choices.ts';
import type { GroupAssemblyEvent } from '../../generated/settings/group-assembly.ts';
import type { Message } from '../../schemas/messages.ts';
import type { DroppedResponse } from '../../schemas/prompts.ts';
import { type AssemblyState, allGroups, type Group, type Round } from './state.ts';

/** Draws a likely next event. */
export function arbitrary(state: AssemblyState, choices: Choices): GroupAssemblyEvent {
  const at = choices.below(6) === 0 ? choices.below(300) : latest(state) + choices.below(8);
  const roll = choices.below(40);
  if (roll < 13) return accepted(state, choices, at);
  if (roll < 19) return counted(state, choices, at);
  if (roll < 22) return completed(state, choices, at);
  if (roll < 25) return left(state, choices, at);
  if (roll < 26) {
    if (choices.below(2) === 0) return { type: 'host.restarted', at, idPrefix: `h${choices.below(1000)}-` };
    return { type: 'round.failed', at, roundId: pick([...state.rounds.keys()], choices) ?? `r${choices.below(50)}` };
  }
  return rewarded(state, choices, at);
}

/** Returns the time of the latest event in the state. */
function latest({ rounds }: AssemblyState): number {
  let time = 0;
  for (const { groups, completed: said } of rounds.values()) {
    time = Math.max(time, said?.at ?? 0);
    for (const { since } of groups.values()) time = Math.max(time, since);
  }
  return time;
}

const isRare = (choices: Choices): boolean => choices.below(20) === 0;
const isOpen = (round: Round): boolean => round.completed === null;
const isCounted = (group: Group): boolean => group.round !== null;

function accepted(state: AssemblyState, choices: Choices, at: number): GroupAssemblyEvent {
  const promptId = `p${choices.below(9)}`;
  const held = state.open.get(promptId)?.members.size ?? 0;
  if (held > 3) return counted(state, choices, at, promptId);
  const known = isRare(choices) ? pick([...state.byRequest.keys()], choices) : undefined;
  const requestId = known ?? `${promptId}/${held}#${choices.below(1000)}`;
  const domain = choices.below(3) === 0 ? { domain: 'code' } : undefined;
  const reason = { code: 'held', held: held + 1, needed: 4 } as const;
  return { type: 'response.accepted', at, requestId, promptId, ...domain, reason };
}

function counted(
  state: AssemblyState,
  choices: Choices,
  at: number,
  full = pick([...state.open.keys()], choices),
): Message<'prompt.counted'> {
  const rounds = [...state.rounds.values()];
  const isWrong = isRare(choices);
  const again = isWrong ? pick(allGroups(state).filter(isCounted), choices)?.promptId : undefined;
  // A prompt without an open group was collected in an earlier round, and is kept whole.
  const promptId = again ?? full ?? `k${choices.below(100)}`;
  const takers = rounds.filter((one) => isOpen(one) && !knows(one, promptId));
  const others = rounds.filter((one) => !takers.includes(one));
  const known = pick(isWrong && others.length > 0 ? others : takers, choices);
  const isFirst = !isWrong && takers.length < 3 && choices.below(6) === 0;
  const roundId = known === undefined || isFirst ? `r${choices.below(50)}` : known.roundId;
  const group = state.open.get(promptId);
  const ids = [...(group?.members.keys() ?? [])];
  // Some responses of the prompt may not be needed.
  if (choices.below(8) === 0) ids.splice(choices.below(ids.length + 1), 1);
  if (ids.length === 0 || choices.below(5) === 0) ids.push(`${promptId}/9#${choices.below(1000)}`);
  if (isRare(choices)) odd(state, choices, ids);
  const responses = ids.map((requestId) => ({
    requestId,
    tokens: choices.below(9),
    ...(choices.below(6) === 0 ? { weightVersions: [0, 1] } : undefined),
    ...(choices.below(6) === 0 ? { reward: choices.below(2) } : undefined),
  }));
  const domain = group?.domain ?? (choices.below(4) === 0 ? 'math' : undefined);
  return {
    type: 'prompt.counted',
    at,
    promptId,
    roundId,
    ...(domain === undefined ? undefined : { domain }),
    ...(choices.below(2) === 0 ? { promptTokens: choices.below(9) } : undefined),
    responses,
    reason: { code: choices.below(2) === 0 ? 'passed' : 'no_filter', counted: 1, needed: 2 },
  };
}

const knows = (round: Round, promptId: string): boolean => round.groups.has(promptId) || round.unrewarded.has(promptId);

/** Changes the responses of a prompt so that the prompt cannot count with them. */
function odd(state: AssemblyState, choices: Choices, ids: string[]): void {
  const other = pick([...state.byRequest.keys()], choices);
  if (choices.below(3) === 0) ids.length = 0;
  else ids.push(choices.below(2) === 0 || other === undefined ? ids[0]! : other);
}

function completed(state: AssemblyState, choices: Choices, at: number): Message<'round.completed'> {
  const rounds = [...state.rounds.values()];
  const isAgain = choices.below(8) === 0;
  const round = pick(
    rounds.filter((one) => isOpen(one) !== isAgain),
    choices,
  );
  const isFailed = choices.below(8) === 0;
  const ids = round === undefined ? [] : [...round.groups.keys(), ...round.unrewarded];
  if (isFailed && choices.below(2) === 0) ids.length = 0;
  // A round names its prompts in the order of entry, which may differ from the order of counting.
  if (choices.below(2) === 0) ids.reverse();
  if (isRare(choices)) ids.pop();
  if (isRare(choices)) ids.push(pick(ids, choices) ?? 'nobody');
  const weightVersion = choices.below(9);
  return {
    type: 'round.completed',
    at,
    roundId: round?.roundId ?? `r${choices.below(50)}`,
    kind: choices.below(3) === 0 ? 'long' : 'short',
    weightVersion,
    prompts: ids.map((promptId) => ({
      promptId,
      ...(choices.below(4) === 0 ? { ref: `of ${promptId}`, domain: 'code' } : undefined),
      ...(choices.below(4) === 0 ? { deferral: { count: 1, sinceRound: 0, sinceSeconds: 0 } } : undefined),
      responses: finals(round, promptId, weightVersion),
    })),
    openedSeconds: 0,
    deferred: 0,
    reason: { code: isFailed ? 'round_failed' : 'quota_reached', counted: ids.length, needed: 2 },
  };
}

/** Returns the responses of a prompt that counts; of a prompt without a reward nothing is known any more. */
function finals(round: Round | undefined, promptId: string, weightVersion: number) {
  const members = round?.groups.get(promptId)?.members.values() ?? [{ requestId: `${promptId}/0#0`, tokens: 1 }];
  return [...members].map(({ requestId, tokens }, index) => {
    return { requestId, index, tokens, weightVersions: [weightVersion] };
  });
}

function left(state: AssemblyState, choices: Choices, at: number): GroupAssemblyEvent {
  // Sometimes the group counts already, and stays.
  const group = pick(choices.below(6) === 0 ? allGroups(state) : [...state.open.values()], choices);
  const promptId = group?.promptId ?? `p${choices.below(9)}`;
  const roundId = `r${choices.below(50)}`;
  const ids = namedOf(group, choices);
  const dropped = (cause: DroppedResponse['cause']) => ids.map((requestId) => ({ requestId, tokens: 1, cause }));
  const isKept = choices.below(2) === 0;
  const kept = ids.map((requestId, index) => ({ requestId, index, tokens: 1, weightVersions: [0], finished: true }));
  const prompt = isKept ? { promptId, kept } : { promptId };
  switch (choices.below(8)) {
    case 0:
    case 1: {
      const reason = { code: 'round_completed', held: ids.length, needed: 4 } as const;
      return { type: 'prompt.deferred', at, prompt, roundId, dropped: isKept ? [] : dropped('stale_weights'), reason };
    }
    case 2:
    case 3: {
      const code = (['not_started', 'round_closed', 'round_failed'] as const)[choices.below(3)]!;
      const lost = isKept ? [] : dropped('round_failed');
      return { type: 'prompt.returned', at, prompt, roundId, dropped: lost, reason: { code } };
    }
    case 4:
      return { type: 'prompt.filtered', at, promptId, roundId, dropped: dropped('filtered'), reason: { code: 'host' } };
    case 5: {
      const reason = { code: 'data', failures: 2, budget: 1 } as const;
      return { type: 'prompt.failed', at, promptId, roundId, dropped: dropped('failed'), reason };
    }
    case 6: {
      const reason = { code: 'beyond_round', needed: 4 } as const;
      const requestId = pick(ids, choices) ?? `${promptId}/8#${choices.below(1000)}`;
      return { type: 'response.dropped', at, requestId, promptId, tokens: 1, finished: true, reason };
    }
    default: {
      const reason = { code: 'already_queued', deferrals: 1 } as const;
      return { type: 'prompt.merged', at, promptId, dropped: dropped('merged'), reason };
    }
  }
}

/** Returns all or some responses of a group: the others belong to another copy of the prompt. Sometimes one response is unknown. */
function namedOf(group: Group | undefined, choices: Choices): string[] {
  const ids = [...(group?.members.keys() ?? [])];
  if (isRare(choices)) ids.push(`p${choices.below(9)}/8#${choices.below(1000)}`);
  return choices.below(3) === 0 ? ids.slice(choices.below(ids.length + 1)) : ids;
}

function rewarded(state: AssemblyState, choices: Choices, at: number): GroupAssemblyEvent {
  const awaited = allGroups(state)
    .flatMap(({ members }) => [...members.values()])
    .filter(({ reward }) => reward === undefined);
  const late = pick([...state.byRequest.keys()], choices) ?? `p${choices.below(9)}/0#${choices.below(1000)}`;
  const requestId = (choices.below(12) === 0 ? undefined : pick(awaited, choices)?.requestId) ?? late;
  if (choices.below(4) > 0) return { type: 'reward.ready', at, requestId, reward: choices.below(5) / 2 - 1 };
  const reason = { code: 'infrastructure', failures: 1, budget: 0 } as const;
  return { type: 'reward.failed', at, requestId, kind: 'rule', reason };
}
