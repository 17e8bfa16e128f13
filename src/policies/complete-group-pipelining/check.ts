/** Which events fit the state. Nothing is changed here. */
import { checkNewPrefix } from '../../core/minted-ids.ts';
import { refuse } from '../../errors.ts';
import { largestReward } from '../../schemas/advantages.ts';
import { otherVersion } from './groups.ts';
import { currentUpdate, type PipeliningState, type Round, type Update, wasPublication, wasUpdate } from './state.ts';
import type { EventNamed, PipeliningEvent } from './words.ts';

/** Refuses an event that does not fit. */
export function check(state: PipeliningState, event: PipeliningEvent): void {
  switch (event.type) {
    case 'group.rewarded':
      return checkGroup(state, event);
    case 'update.consumed':
      return checkConsumed(state, event);
    case 'optimizer.stepped':
      return checkStepped(state, event);
    case 'update.lost':
      checkUpdate(state, event.updateId);
      return;
    case 'round.opened':
      return checkOpening(state, event);
    case 'round.rewarded':
      return checkRewarded(checkRound(state, event.roundId), event);
    case 'round.failed':
      checkRound(state, event.roundId);
      return;
    case 'weights.published':
      return checkPublished(state, event);
    case 'trainer.restarted':
      return checkRestart(state, event);
    case 'host.restarted':
      return checkNewPrefix(state, event.idPrefix);
  }
}

/** The round, or `undefined` for one that is over. */
function checkRound(state: PipeliningState, roundId: string): Round | undefined {
  const round = state.rounds.get(roundId);
  if (round !== undefined || state.recentRounds.has(roundId)) return round;
  return refuse('unknown_id', 'roundId', 'a round that was opened', roundId);
}

/** The update, or `undefined` for one that is over, or that was dispatched again. */
function checkUpdate(state: PipeliningState, updateId: string): Update | undefined {
  const update = state.live.get(updateId);
  if (update !== undefined || wasUpdate(state, updateId)) return update;
  return refuse('unknown_id', 'updateId', 'an update that was dispatched', updateId);
}

function checkOpening(state: PipeliningState, { roundId, weightVersion }: EventNamed<'round.opened'>): void {
  if (state.rounds.has(roundId) || state.recentRounds.has(roundId))
    refuse('duplicate_id', 'roundId', 'a new round id', roundId);
  if (weightVersion < state.weightVersion)
    refuse('out_of_order', 'weightVersion', `a weight version >= ${state.weightVersion}`, weightVersion);
}

function checkGroup(state: PipeliningState, event: EventNamed<'group.rewarded'>): void {
  const { roundId, promptId, samples, responses } = event;
  const round = checkRound(state, roundId);
  if (responses.length !== samples)
    refuse('invalid_event', 'samples', `${responses.length}: the number of responses`, samples);
  const most = state.config.responsesPerPrompt;
  if (samples > most) refuse('invalid_event', 'responses', `at most ${most} responses`, samples);
  for (let index = 0; index < responses.length; index += 1) {
    const { reward } = responses[index]!;
    if (reward < -largestReward || reward > largestReward)
      refuse(
        'invalid_event',
        `responses[${index}].reward`,
        `a reward from -${largestReward} to ${largestReward}`,
        reward,
      );
  }
  // What is late is not looked at.
  if (round === undefined || round.times.closedSeconds !== null || round.known.has(promptId)) return;
  const other = state.config.otherVersions === 'refuse' ? otherVersion(event, round.weightVersion) : undefined;
  if (other === undefined) return;
  const path = `responses[${other.index}].weightVersions`;
  refuse('invalid_event', path, `the weight version of the round, ${round.weightVersion}`, other.version);
}

function checkRewarded(round: Round | undefined, event: EventNamed<'round.rewarded'>): void {
  if (round === undefined || round.times.closedSeconds !== null || event.reason.code === 'round_failed') return;
  const { weightVersion, prompts } = event;
  if (weightVersion !== round.weightVersion)
    refuse('invalid_event', 'weightVersion', `that of the round, ${round.weightVersion}`, weightVersion);
  const named = new Set<string>();
  for (let index = 0; index < prompts.length; index += 1) {
    const { promptId } = prompts[index]!;
    if (!round.known.has(promptId))
      refuse('unknown_id', `prompts[${index}].promptId`, 'a group that was rewarded', promptId);
    if (named.has(promptId)) refuse('duplicate_id', `prompts[${index}].promptId`, 'every group once', promptId);
    named.add(promptId);
  }
  if (named.size < round.known.size)
    refuse('invalid_event', 'prompts', `all ${round.known.size} groups that were rewarded`, named.size);
}

function checkConsumed(state: PipeliningState, { updateId, groups }: EventNamed<'update.consumed'>): void {
  const update = checkUpdate(state, updateId);
  if (update === undefined) return;
  const current = currentUpdate(state.head!)!;
  if (update !== current) {
    const expected = `update ${current.index} of the round to be stepped on first`;
    refuse('out_of_order', 'updateId', expected, updateId);
  }
  const { consumed } = update;
  // The usual report names the groups as they were given.
  const isWhole = groups.length === update.groups.length && consumed === null;
  if (isWhole && groups.every((id, index) => id === update.groups[index]!.groupId)) return;
  const given = new Set(update.groups.map((group) => group.groupId));
  const isRepeated = consumed?.has(groups[0]!) === true;
  groups.forEach((id, index) => {
    if (!given.delete(id)) refuse('invalid_event', `groups[${index}]`, 'groups of the update, each once', id);
    if ((consumed?.has(id) === true) !== isRepeated)
      refuse('invalid_event', `groups[${index}]`, 'only groups that were not reported before', id);
  });
}

function checkStepped(state: PipeliningState, { roundId, updateId }: EventNamed<'optimizer.stepped'>): void {
  const update = checkUpdate(state, updateId);
  if (update === undefined) return;
  const head = state.head!;
  if (head.roundId !== roundId) refuse('invalid_event', 'roundId', head.roundId, roundId);
  if (!head.isStepping || update !== currentUpdate(head))
    refuse('out_of_order', 'updateId', 'an update whose `optimizer.step` was decided', updateId);
}

function checkPublished(
  state: PipeliningState,
  { roundId, publicationId, weightVersion }: EventNamed<'weights.published'>,
): void {
  const { head } = state;
  if (head === null || head.publicationId !== publicationId) {
    if (wasPublication(state, publicationId)) return;
    return refuse('unknown_id', 'publicationId', 'a `weights.publish` that was decided', publicationId);
  }
  if (head.roundId !== roundId) refuse('invalid_event', 'roundId', head.roundId, roundId);
  if (weightVersion <= head.weightVersion)
    refuse('invalid_event', 'weightVersion', `a version after ${head.weightVersion}`, weightVersion);
}

function checkRestart(state: PipeliningState, { roundId, updates }: EventNamed<'trainer.restarted'>): void {
  const round = checkRound(state, roundId);
  if (round === undefined) return;
  if (round !== state.head)
    refuse('out_of_order', 'roundId', `the round that is trained, ${state.head!.roundId}`, roundId);
  const most = round.stepped + (round.isStepping ? 1 : 0);
  if (updates > most) refuse('invalid_event', 'updates', `at most ${most}, the steps that were decided`, updates);
}
