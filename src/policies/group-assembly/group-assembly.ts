/**
 * Group assembly (RollPacker §4.3, §4.4): rewards come one by one, groups train whole. A prompt that counts becomes a
 * group as soon as each of its responses has its reward, and a round is ready when all its groups are. See README.md.
 */
import { definePolicy, type Ledger } from '../../core/definition.ts';
import { groupKey } from '../../core/trained-groups.ts';
import { check } from './check.ts';
import { askAgain, countPrompt, forgetNamed, openGroup, reward } from './groups.ts';
import { completeRound, failRound, resumeRounds } from './rounds.ts';
import { assemblyConfig } from './schema.ts';
import { assemblySnapshot, load, migrateFromOne, type SavedAssembly, save } from './snapshot.ts';
import { type AssemblyState, addMember, newState } from './state.ts';
import { type AssemblyDecision, type AssemblyEvent, assemblyDecisions, assemblyEvents, type Ctx } from './words.ts';

function apply(state: AssemblyState, event: AssemblyEvent, ctx: Ctx): void {
  switch (event.type) {
    case 'response.accepted':
      if (state.byRequest.has(event.requestId)) return;
      addMember(state, openGroup(state, event.promptId, event.domain), event.requestId, undefined);
      return;
    case 'prompt.counted':
      return countPrompt(state, event, ctx);
    case 'prompt.merged':
    case 'prompt.filtered':
    case 'prompt.quarantined':
      return forgetNamed(state, event.dropped);
    case 'response.dropped':
      return forgetNamed(state, [event]);
    case 'prompt.deferred':
    case 'prompt.returned':
      // It came after its round: what is open under its name is of one that is carried on.
      if (event.reason.code === 'round_closed') return;
      // What it keeps is of use when it comes back, with the rewards that are there by then.
      return forgetNamed(state, event.dropped);
    case 'round.completed':
      return completeRound(state, event, ctx);
    case 'round.failed':
      return failRound(state, event.roundId, ctx);
    case 'reward.ready':
      return reward(state, event.requestId, event.reward, ctx);
    case 'reward.failed':
      return reward(state, event.requestId, null, ctx);
    case 'host.restarted':
      // Rewards that were being computed are computed again; what is known stays.
      if (state.config.askAgain) askAgain(state, ctx);
      return resumeRounds(state, ctx);
  }
}

/** Prompts that count enter, and leave with their round, without a reward, or withdrawn. */
const groupLedger: Ledger<SavedAssembly, AssemblyEvent, AssemblyDecision> = {
  name: 'groups',
  entered: (event) => (event.type === 'prompt.counted' ? [groupKey(event.roundId, event.promptId)] : []),
  left: (decision) => {
    switch (decision.type) {
      case 'round.rewarded':
        return decision.prompts.map(({ promptId }) => groupKey(decision.roundId, promptId));
      case 'group.unrewarded':
      case 'group.withdrawn':
        return [groupKey(decision.roundId, decision.promptId)];
      default:
        return [];
    }
  },
  held: ({ groups }) =>
    groups.flatMap(({ roundId, promptId }) => (roundId === null ? [] : [groupKey(roundId, promptId)])),
};

/** Makes whole groups of rewards that come one by one. */
export const groupAssembly = definePolicy({
  id: 'group-assembly',
  version: 2,
  summary: 'Makes whole groups, and ready rounds, of rewards that come one by one.',
  source: 'RollPacker §4.3, §4.4',
  config: assemblyConfig,
  events: assemblyEvents,
  decisions: assemblyDecisions,
  state: assemblySnapshot,
  init: newState,
  check,
  apply,
  save,
  load,
  migrations: { 1: migrateFromOne },
  ledgers: [groupLedger],
});
