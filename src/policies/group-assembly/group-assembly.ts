/**
 * Group assembly (RollPacker §4.3, §4.4): rewards come one by one, but groups are trained as a whole. A counting prompt becomes a
 * group as soon as all its responses have rewards, and a round is ready when all its groups are. See README.md.
 */
import { definePolicy, type HeldLedger, type PolicyDefinitionOf } from '../../core/machine/definition.ts';
import type { GroupAssemblyTypes } from '../../generated/settings/group-assembly.ts';
import {
  promptCounted,
  promptDeferred,
  promptFailed,
  promptFiltered,
  promptMerged,
  promptReturned,
} from '../../schemas/decisions/prompts.ts';
import { responseAccepted, responseDropped } from '../../schemas/decisions/requests.ts';
import { rewardFailed } from '../../schemas/decisions/reward-workers.ts';
import { roundCompleted } from '../../schemas/decisions/rounds.ts';
import { rewardReady } from '../../schemas/events/rewards.ts';
import { roundFailed } from '../../schemas/events/rounds.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import { groupKey } from '../../schemas/moves.ts';
import { accept, askAgain, checkCounted, countPrompt, forgetNamed, reward } from './groups.ts';
import { assemblyDecisions, on } from './messages.ts';
import { checkCompleted, completeRound, failRound, resumeRounds } from './rounds.ts';
import { assemblyConfig } from './schema.ts';
import { type AssemblyState, assemblyState, link, type SavedAssembly } from './state.ts';
import { waits } from './waits.ts';

const handlers = [
  on(responseAccepted, accept),
  on(responseDropped, (state, event) => forgetNamed(state, [event])),
  on(promptCounted, countPrompt, checkCounted),
  on([promptDeferred, promptReturned], (state, { reason, dropped }) => {
    // A prompt of a closed round does not affect the open group with the same id, which is carried on. Kept responses, and the
    // rewards that they have by then, are needed when the prompt comes back.
    if (reason.code !== 'round_closed') forgetNamed(state, dropped);
  }),
  on([promptFiltered, promptFailed, promptMerged], (state, { dropped }) => forgetNamed(state, dropped)),
  on(roundCompleted, completeRound, checkCompleted),
  on(roundFailed, failRound),
  on(rewardReady, (state, { requestId, reward: value }, ctx) => reward(state, requestId, value, ctx)),
  on(rewardFailed, (state, { requestId }, ctx) => reward(state, requestId, null, ctx)),
  on(hostRestarted, (state, _, ctx) => {
    // Rewards in progress are computed again; known rewards stay.
    if (state.config.askAgain) askAgain(state, ctx);
    resumeRounds(state, ctx);
  }),
];

/** Prompts enter when they count. They leave with their round, without a reward, or withdrawn. */
const groupLedger: HeldLedger<SavedAssembly> = {
  name: 'groups',
  held: ({ rounds }) =>
    rounds.flatMap(({ roundId, groups }) => groups.map(({ promptId }) => groupKey(roundId, promptId))),
};

/**
 * Joins rewards that come one by one into whole groups.
 *
 * The policy takes the decisions of `tail-batching` or `speculative-admission` as its events, and rewards by `reward.ready`:
 * `for (const decision of tail.send(event)) if (groups.takes(decision)) groups.send(decision)`.
 */
export const groupAssembly: PolicyDefinitionOf<GroupAssemblyTypes, AssemblyState, SavedAssembly> = definePolicy({
  id: 'group-assembly',
  version: 3,
  summary: 'Makes whole groups, and ready rounds, of rewards that come one by one.',
  source: 'RollPacker §4.3, §4.4',
  config: assemblyConfig,
  state: assemblyState,
  link,
  handlers,
  decisions: assemblyDecisions,
  ledgers: [groupLedger],
  waits,
});
