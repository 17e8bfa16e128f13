/**
 * Connects the frontier and the assembly of groups: it keeps the responses of each request, and reports when a group counts, and
 * when a round has all its groups. The part decides nothing, and any other part may mint the requests.
 */
import { definePolicy, handlersOf } from '../../../core/machine/definition.ts';
import { isOfRound, restartRoundAt } from '../../../core/rollout/restart-versions.ts';
import { refuse } from '../../../errors.ts';
import { groupLeft, requestAdmit, requestDropped } from '../../../schemas/decisions/frontier.ts';
import { groupRewarded, groupUnrewarded, roundRewarded } from '../../../schemas/decisions/groups.ts';
import { responseAbandoned } from '../../../schemas/decisions/requests.ts';
import { rewardFailed } from '../../../schemas/decisions/reward-workers.ts';
import { requestArrived } from '../../../schemas/events/frontier.ts';
import { requestAborted, responseCompleted, responseFailed } from '../../../schemas/events/requests.ts';
import { rewardReady } from '../../../schemas/events/rewards.ts';
import { roundFailed, roundOpened } from '../../../schemas/events/rounds.ts';
import { hostRestarted } from '../../../schemas/events/session.ts';
import type { Message } from '../../../schemas/messages.ts';
import { groupKey } from '../../../schemas/moves.ts';
import { type CollectionDecision, type Ctx, collectionDecisions } from './messages.ts';
import { askAgain, complete, completeIfEnded, failRound, leave } from './rounds.ts';
import {
  addResponse,
  addRound,
  type CollectionState,
  collectionConfig,
  collectionState,
  forgetResponse,
  forgetRound,
  isGenerated,
  link,
  type SavedCollection,
} from './state.ts';
import { waits } from './waits.ts';

const on = handlersOf<CollectionState, CollectionDecision>();
const handlers = [
  on(roundOpened, open, checkOpening),
  on(
    requestArrived,
    (state, { promptId }) => void (state.generating.get(promptId)!.status = 'generating'),
    checkArrival,
  ),
  on(requestAdmit, (state, { promptId, requestId, index }) => {
    addResponse(state, state.generating.get(promptId)!, requestId, index);
  }),
  on(responseCompleted, complete, checkVersions),
  on([responseFailed, responseAbandoned, requestAborted, requestDropped], (state, { requestId }) => {
    const response = state.responses.get(requestId);
    if (response !== undefined && !response.isCompleted) forgetResponse(state, response);
  }),
  on(groupLeft, leave),
  on(rewardReady, rewarded),
  on(rewardFailed, rewarded),
  on([groupRewarded, groupUnrewarded], ({ rounds }, { roundId, promptId }) => {
    rounds.get(roundId)!.groups.get(promptId)!.status = 'over';
  }),
  on(roundRewarded, (state, { roundId }) => {
    const round = state.rounds.get(roundId);
    if (round !== undefined) forgetRound(state, round);
  }),
  on(roundFailed, failRound),
  on(hostRestarted, (state, event, ctx) => {
    const { weightVersion } = event;
    if (weightVersion !== undefined) for (const round of state.rounds.values()) restartRoundAt(round, weightVersion);
    askAgain(state, event, ctx);
  }),
];

function open(state: CollectionState, event: Message<'round.opened'>, ctx: Ctx): void {
  const { roundId, kind, weightVersion, prompts } = event;
  completeIfEnded(addRound(state, { roundId, kind, weightVersion, openedSeconds: ctx.at, prompts }), ctx);
}

function rewarded({ responses }: CollectionState, { requestId }: { readonly requestId: string }): void {
  const response = responses.get(requestId);
  if (response?.isCompleted) response.isRewarded = true;
}

function checkOpening(state: CollectionState, { prompts }: Message<'round.opened'>): void {
  const named = new Set<string>();
  prompts.forEach(({ promptId, kept = [] }, index) => {
    const path = `prompts[${index}]`;
    if (named.has(promptId) || state.generating.has(promptId))
      refuse('duplicate_id', `${path}.promptId`, 'a prompt that is not being generated', promptId);
    if (kept.length > 0)
      refuse(
        'invalid_event',
        `${path}.kept`,
        'no responses of earlier rounds: all are of the weights of this one',
        kept,
      );
    named.add(promptId);
  });
}

function checkArrival(
  state: CollectionState,
  { requestId, promptId, roundId, index }: Message<'request.arrived'>,
): void {
  const round = state.rounds.get(roundId);
  if (round === undefined) return refuse('unknown_id', 'roundId', 'a round that was opened', roundId);
  const group = round.groups.get(promptId);
  if (group === undefined) return refuse('unknown_id', 'promptId', `a prompt of round ${roundId}`, promptId);
  if (!isGenerated(group)) refuse('out_of_order', 'promptId', 'a group that has not left', promptId);
  const { responsesPerPrompt } = state.config;
  if (index >= responsesPerPrompt) refuse('invalid_event', 'index', `at most ${responsesPerPrompt - 1}`, index);
  if (state.responses.has(requestId)) refuse('duplicate_id', 'requestId', 'a new request id', requestId);
}

function checkVersions(
  state: CollectionState,
  { requestId, weightVersions = [] }: Message<'response.completed'>,
): void {
  const response = state.responses.get(requestId);
  if (state.config.otherVersions === 'drop' || response === undefined || response.isCompleted) return;
  const { round } = response.group;
  const { weightVersion } = round;
  const at = weightVersions.findIndex((one) => !isOfRound(round, one));
  if (at < 0) return;
  const expected = `the weight version of the round, ${weightVersion}`;
  refuse('invalid_event', `weightVersions[${at}]`, expected, weightVersions[at]);
}

/** Keeps the response of each request, and reports when groups and rounds have all their responses. */
export const roundCollection = definePolicy({
  id: 'round-collection',
  version: 2,
  summary: 'Says when the groups of a round, and the round itself, have their responses.',
  source: 'RolloutPipe §3.1',
  config: collectionConfig,
  state: collectionState,
  link,
  handlers,
  decisions: collectionDecisions,
  migrations: { 1: migrateFromOne },
  // The recipe has a ledger of groups, from the opening of a round to the end of its training.
  ledgers: [],
  waits,
});

/** Version 1 did not save which groups had no request yet: the next restart asks twice for those that wait. */
function migrateFromOne(given: unknown): unknown {
  const saved = structuredClone(given) as Partial<SavedCollection> | null;
  if (!Array.isArray(saved?.rounds) || !Array.isArray(saved.responses)) return saved;
  const known = new Set(saved.responses.map((one) => groupKey(one?.roundId, one?.promptId)));
  for (const round of saved.rounds) {
    for (const group of Array.isArray(round?.groups) ? round.groups : []) {
      const isKnown = known.has(groupKey(round.roundId, group?.prompt?.promptId));
      if (group?.status === 'generating' && !isKnown) group.status = 'opened';
    }
  }
  return saved;
}
