/**
 * What stands between the frontier and the assembly of groups: it keeps what each request has generated, and says when a
 * group counts, and when a round has all its groups. It decides nothing; whoever mints the requests need not count them.
 */
import { type Context, definePolicy } from '../../core/definition.ts';
import { PolicyError, type PolicyErrorCode } from '../../errors.ts';
import { largestReward } from '../../schemas/advantages.ts';
import * as d from '../../schemas/decisions/index.ts';
import * as e from '../../schemas/events/index.ts';
import { copyDeferral, copyPrompt, type FinalPrompt } from '../../schemas/prompts.ts';
import type { Of } from '../../schemas/vocabulary.ts';
import { arbitrary } from './arbitrary.ts';
import {
  addResponse,
  addRound,
  type CollectionState,
  collectionConfig,
  collectionSnapshot,
  completedOf,
  counted,
  droppedResponses,
  forgetResponse,
  forgetRound,
  type Group,
  load,
  newState,
  type Round,
  save,
} from './collection-state.ts';

const events = [
  e.roundOpened,
  e.requestArrived,
  d.requestAdmit,
  e.responseCompleted,
  e.responseFailed,
  d.responseAbandoned,
  e.requestAborted,
  d.requestDropped,
  d.groupLeft,
  e.rewardReady,
  d.rewardFailed,
  d.groupRewarded,
  d.groupUnrewarded,
  d.roundRewarded,
  e.roundFailed,
  e.hostRestarted,
] as const;
const decisions = [
  d.responseAccepted,
  d.promptCounted,
  d.promptReturned,
  d.groupUnrewarded,
  d.roundCompleted,
  d.rewardRequest,
] as const;

/** What the collection of rounds understands. */
export type CollectionEvent = Of<(typeof events)[number]>;
type EventNamed<T extends CollectionEvent['type']> = Extract<CollectionEvent, { type: T }>;
type Ctx = Context<Of<(typeof decisions)[number]>>;

function refuse(code: PolicyErrorCode, path: string, expected: string, got: unknown): never {
  throw new PolicyError(code, { expected, got, path });
}

function check(state: CollectionState, event: CollectionEvent): void {
  switch (event.type) {
    case 'round.opened':
      return checkOpening(state, event);
    case 'request.arrived':
      return checkArrival(state, event);
    case 'response.completed':
      return checkVersions(state, event);
    case 'reward.ready':
      if (Math.abs(event.reward) <= largestReward) return;
      return refuse('invalid_event', 'reward', `a reward from -${largestReward} to ${largestReward}`, event.reward);
  }
}

function checkOpening(state: CollectionState, { prompts }: EventNamed<'round.opened'>): void {
  const named = new Set<string>();
  prompts.forEach(({ promptId, kept = [] }, index) => {
    const path = `prompts[${index}]`;
    if (named.has(promptId) || state.generating.has(promptId))
      refuse('duplicate_id', `${path}.promptId`, 'a prompt that is not being generated', promptId);
    if (kept.length > 0)
      refuse('invalid_event', `${path}.kept`, 'no responses of earlier rounds: all are of the weights of this one', kept);
    named.add(promptId);
  });
}

function checkArrival(
  state: CollectionState,
  { requestId, promptId, roundId, index }: EventNamed<'request.arrived'>,
): void {
  const round = state.rounds.get(roundId);
  if (round === undefined) return refuse('unknown_id', 'roundId', 'a round that was opened', roundId);
  const group = round.groups.get(promptId);
  if (group === undefined) return refuse('unknown_id', 'promptId', `a prompt of round ${roundId}`, promptId);
  if (group.status !== 'generating') refuse('out_of_order', 'promptId', 'a group that has not left', promptId);
  const { responsesPerPrompt } = state.config;
  if (index >= responsesPerPrompt) refuse('invalid_event', 'index', `at most ${responsesPerPrompt - 1}`, index);
  if (state.responses.has(requestId)) refuse('duplicate_id', 'requestId', 'a new request id', requestId);
}

function checkVersions(
  state: CollectionState,
  { requestId, weightVersions = [] }: EventNamed<'response.completed'>,
): void {
  const response = state.responses.get(requestId);
  if (state.config.otherVersions === 'drop' || response === undefined || response.isCompleted) return;
  const { weightVersion } = response.group.round;
  const at = weightVersions.findIndex((one) => one !== weightVersion);
  if (at < 0) return;
  const expected = `the weight version of the round, ${weightVersion}`;
  refuse('invalid_event', `weightVersions[${at}]`, expected, weightVersions[at]);
}

function apply(state: CollectionState, event: CollectionEvent, ctx: Ctx): void {
  switch (event.type) {
    case 'round.opened': {
      const { roundId, kind, weightVersion, prompts } = event;
      return completeIfEnded(addRound(state, { roundId, kind, weightVersion, openedSeconds: ctx.at, prompts }), ctx);
    }
    case 'request.admit':
      addResponse(state, state.generating.get(event.promptId)!, event.requestId, event.index);
      return;
    case 'response.completed':
      return complete(state, event, ctx);
    case 'response.failed':
    case 'response.abandoned':
    case 'request.aborted':
    case 'request.dropped': {
      const response = state.responses.get(event.requestId);
      if (response !== undefined && !response.isCompleted) forgetResponse(state, response);
      return;
    }
    case 'group.left':
      return leave(state, event, ctx);
    case 'reward.ready':
    case 'reward.failed': {
      const response = state.responses.get(event.requestId);
      if (response?.isCompleted) response.isRewarded = true;
      return;
    }
    case 'group.rewarded':
    case 'group.unrewarded': {
      state.rounds.get(event.roundId)!.groups.get(event.promptId)!.status = 'over';
      return;
    }
    case 'round.rewarded': {
      const round = state.rounds.get(event.roundId);
      if (round !== undefined) forgetRound(state, round);
      return;
    }
    case 'round.failed':
      return failRound(state, event.roundId, ctx);
    case 'host.restarted':
      return askAgain(state, ctx);
  }
}

/** A response is held for its group; a report about a request that is not in an engine is late. */
function complete(
  state: CollectionState,
  { requestId, tokens, weightVersions }: EventNamed<'response.completed'>,
  ctx: Ctx,
): void {
  const response = state.responses.get(requestId);
  if (response === undefined || response.isCompleted) return;
  response.isCompleted = true;
  response.tokens = tokens;
  if (weightVersions !== undefined) response.weightVersions = weightVersions.slice();
  const { prompt } = response.group;
  ctx.emit({
    type: 'response.accepted',
    at: ctx.at,
    requestId,
    ...named(prompt),
    reason: { code: 'held', held: completedOf(response.group).length, needed: state.config.responsesPerPrompt },
  });
}

function named({ promptId, domain }: Group['prompt']): { promptId: string; domain?: string } {
  return domain === undefined ? { promptId } : { promptId, domain };
}

/** A group has all its responses: they count, if there is one. */
function leave(state: CollectionState, { promptId, roundId, reason }: EventNamed<'group.left'>, ctx: Ctx): void {
  const group = state.generating.get(promptId);
  // Its round has failed.
  if (group === undefined || group.round.roundId !== roundId) return;
  const { round, prompt } = group;
  const responses = completedOf(group);
  state.generating.delete(promptId);
  round.generating -= 1;
  if (responses.length === 0) {
    group.status = 'over';
    const { givenUp } = reason;
    ctx.emit({ type: 'group.unrewarded', at: ctx.at, roundId, promptId, reason: { code: 'no_response', givenUp } });
  } else {
    group.status = 'counts';
    round.counted += 1;
    ctx.emit({
      type: 'prompt.counted',
      at: ctx.at,
      ...named(prompt),
      roundId,
      ...(prompt.promptTokens === undefined ? undefined : { promptTokens: prompt.promptTokens }),
      responses: responses.map(counted),
      reason: { code: 'no_filter', counted: round.counted, needed: round.groups.size },
    });
  }
  completeIfEnded(round, ctx);
}

/** The rollout of a round is over when none of its groups is being generated. */
function completeIfEnded(round: Round, ctx: Ctx): void {
  if (round.generating > 0) return;
  const { roundId, kind, weightVersion, openedSeconds, groups } = round;
  const prompts = [...groups.values()].flatMap((group) => finalPrompt(group, weightVersion));
  ctx.emit({
    type: 'round.completed',
    at: ctx.at,
    roundId,
    kind,
    weightVersion,
    prompts,
    openedSeconds,
    deferred: 0,
    reason: { code: 'all_ended', counted: prompts.length, needed: groups.size },
  });
}

function finalPrompt(group: Group, ofRound: number): FinalPrompt[] {
  const responses = completedOf(group).map(({ requestId, index, tokens, weightVersions = [ofRound] }) => {
    return { requestId, index, tokens, weightVersions: weightVersions.slice() };
  });
  if (responses.length === 0) return [];
  const { promptId, ref, domain, deferral } = group.prompt;
  return [
    {
      promptId,
      ...(ref === undefined ? undefined : { ref }),
      ...(domain === undefined ? undefined : { domain }),
      ...(deferral === undefined ? undefined : { deferral: copyDeferral(deferral) }),
      responses,
    },
  ];
}

/** Prompts of a round that has failed are handed back, but for those that have become groups of the trainer. */
function failRound(state: CollectionState, roundId: string, ctx: Ctx): void {
  const round = state.rounds.get(roundId);
  if (round === undefined) return;
  for (const group of round.groups.values()) {
    if (group.status === 'over') continue;
    const dropped = droppedResponses(group);
    const prompt = copyPrompt(group.prompt);
    ctx.emit({ type: 'prompt.returned', at: ctx.at, prompt, roundId, dropped, reason: { code: 'round_failed' } });
  }
  forgetRound(state, round);
}

/** Rewards that were being computed are gone with the host. */
function askAgain(state: CollectionState, ctx: Ctx): void {
  for (const { requestId, group, isCompleted, isRewarded } of state.responses.values()) {
    if (!isCompleted || isRewarded) continue;
    ctx.emit({
      type: 'reward.request',
      at: ctx.at,
      requestId,
      ...named(group.prompt),
      reason: { code: 'host_restarted' },
    });
  }
}

/** Keeps what each request has generated, and says when groups and rounds have all of it. */
export const roundCollection = definePolicy({
  id: 'round-collection',
  version: 1,
  summary: 'Says when the groups of a round, and the round itself, have their responses.',
  source: 'RolloutPipe §3.1',
  config: collectionConfig,
  events,
  decisions,
  state: collectionSnapshot,
  init: newState,
  check,
  apply,
  save,
  load,
  // The recipe has a ledger of groups, from the opening of a round to the end of its training.
  ledgers: [],
  arbitrary,
});
