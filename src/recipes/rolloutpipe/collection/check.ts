/** Which events fit the state. Nothing is changed here. */
import { refuse } from '../../../errors.ts';
import { largestReward } from '../../../schemas/advantages.ts';
import { type CollectionState, isGenerated } from './state.ts';
import type { CollectionEvent, EventNamed } from './words.ts';

/** Refuses an event that does not fit. */
export function check(state: CollectionState, event: CollectionEvent): void {
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
  { requestId, promptId, roundId, index }: EventNamed<'request.arrived'>,
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
