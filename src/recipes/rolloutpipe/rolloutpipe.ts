/**
 * RolloutPipe (§3): complete groups are trained while later groups are generated; the frontier decides which groups are complete
 * first. The recipe is composed of frontier-group-dispatch, group-assembly and complete-group-pipelining, and adds no scheduling of
 * its own. See README.md.
 */
import type { AnyDecision, AnyEvent, Ledger } from '../../core/machine/definition.ts';
import { defineRecipe } from '../../core/recipe/recipe.ts';
import type { RecipeDefinition, SavedRecipe } from '../../core/recipe/spec.ts';
import type { RolloutPipeDecision, RolloutPipeTypes } from '../../generated/settings/rolloutpipe.ts';
import { completeGroupPipelining, trainerReports } from '../../policies/complete-group-pipelining/index.ts';
import { frontierGroupDispatch } from '../../policies/frontier-group-dispatch/index.ts';
import { groupAssembly } from '../../policies/group-assembly/index.ts';
import { type groupUnrewarded, groupWithdrawn } from '../../schemas/decisions/groups.ts';
import type { promptReturned } from '../../schemas/decisions/prompts.ts';
import { responseAbandoned } from '../../schemas/decisions/requests.ts';
import { rewardFailed } from '../../schemas/decisions/reward-workers.ts';
import { roundResumed } from '../../schemas/decisions/rounds.ts';
import { requestArrived } from '../../schemas/events/frontier.ts';
import { requestAborted, responseCompleted, responseFailed } from '../../schemas/events/requests.ts';
import { rewardReady } from '../../schemas/events/rewards.ts';
import { roundFailed, roundOpened } from '../../schemas/events/rounds.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import { groupKey } from '../../schemas/moves.ts';
import type { Of } from '../../schemas/vocabulary.ts';
import { partDecisions } from '../part-messages.ts';
import { roundCollection } from './collection/round-collection.ts';
import type { SavedCollection } from './collection/state.ts';
import { deliver, routes } from './routes.ts';
import { partConfigs, rolloutPipeConfig } from './schema.ts';

const parts = {
  frontier: frontierGroupDispatch,
  collection: roundCollection,
  assembly: groupAssembly,
  pipelining: completeGroupPipelining,
} as const;

const events = [
  roundOpened,
  requestArrived,
  responseCompleted,
  responseFailed,
  responseAbandoned,
  requestAborted,
  rewardReady,
  rewardFailed,
  ...trainerReports,
  roundFailed,
  hostRestarted,
] as const;

// The prompts of withdrawn groups were handed back, or a decision has dropped their group. Rounds end in the collection, which
// tells the trainer.
const decisions = partDecisions<RolloutPipeDecision>(parts, [groupWithdrawn.type, roundResumed.type]);

const trained = completeGroupPipelining.ledgers[0]! as Ledger;

/** Groups enter with their round, and leave trained, handed back, without a reward, or dropped. */
const groupLedger: Ledger<SavedRecipe, AnyEvent, AnyDecision> = {
  name: 'groups',
  entered: (event) => {
    if (event.type !== 'round.opened') return [];
    const { roundId, prompts } = event as Of<typeof roundOpened>;
    return prompts.map(({ promptId }) => groupKey(roundId, promptId));
  },
  left: (decision) => {
    const leaving = decision as Of<typeof promptReturned | typeof groupUnrewarded>;
    switch (leaving.type) {
      case 'prompt.returned':
        return [groupKey(leaving.roundId, leaving.prompt.promptId)];
      case 'group.unrewarded':
        return [groupKey(leaving.roundId, leaving.promptId)];
      default:
        return trained.left(decision);
    }
  },
  held: ({ parts: states }) => [
    ...(states.collection!.state as SavedCollection).rounds.flatMap(({ roundId, groups }) =>
      groups.filter((one) => one.status !== 'over').map(({ prompt }) => groupKey(roundId, prompt.promptId)),
    ),
    ...trained.held(states.pipelining!.state),
  ],
};

/** The ledgers of requests are taken from the frontier. */
const requestLedgers = (frontierGroupDispatch.ledgers as readonly Ledger[]).map(
  (ledger): Ledger<SavedRecipe, AnyEvent, AnyDecision> => ({
    ...ledger,
    held: ({ parts: states }) => ledger.held(states.frontier!.state),
  }),
);

/** Trains complete groups while later groups are generated, in the order that the frontier decides. */
export const rolloutPipe: RecipeDefinition<RolloutPipeTypes> = defineRecipe({
  id: 'rolloutpipe',
  version: 1,
  summary:
    'A frontier of groups in service, each trained as soon as it is complete and rewarded; one publication a round.',
  source: 'RolloutPipe §3',
  config: rolloutPipeConfig,
  parts,
  configure: partConfigs,
  events,
  decisions,
  deliver,
  routes,
  // The assembly has a round as soon as one of its groups counts.
  origins: {
    'group.rewarded': { parts: ['assembly', 'collection'] },
    'round.rewarded': { parts: ['assembly', 'collection'] },
  },
  ledgers: [groupLedger, ...requestLedgers],
});
