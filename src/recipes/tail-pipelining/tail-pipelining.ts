/**
 * Tail batching (RollPacker §3) with a trainer on GPUs of its own (RolloutPipe §3.2, §3.3): groups that count for a round are
 * trained while the rest of the round is generated. The recipe adds no scheduling of its own. See README.md.
 */
import type { AnyPolicyDefinition } from '../../core/machine/definition.ts';
import { defineRecipe } from '../../core/recipe/recipe.ts';
import type { RecipeDefinition } from '../../core/recipe/spec.ts';
import type {
  TailPipeliningDecision,
  TailPipeliningEvent,
  TailPipeliningTypes,
} from '../../generated/settings/tail-pipelining.ts';
import { completeGroupPipelining, trainerReports } from '../../policies/complete-group-pipelining/index.ts';
import { frontierGroupDispatch } from '../../policies/frontier-group-dispatch/index.ts';
import { groupAssembly } from '../../policies/group-assembly/index.ts';
import { longPromptQueue } from '../../policies/long-prompt-queue/index.ts';
import { speculativeAdmission } from '../../policies/speculative-admission/index.ts';
import { requestAwaited } from '../../schemas/decisions/frontier.ts';
import { roundResumed } from '../../schemas/decisions/rounds.ts';
import { roundOpened, roundRequested } from '../../schemas/events/rounds.ts';
import type { EventMessage } from '../../schemas/vocabulary.ts';
import { partDecisions } from '../part-messages.ts';
import { expectedOpenings, joinedLedger } from '../tail-batching/joined.ts';
import { deliver, openIn, routes } from './routes.ts';
import { partConfigs, tailPipeliningConfig } from './schema.ts';

const parts = {
  queue: longPromptQueue,
  admission: speculativeAdmission,
  assembly: groupAssembly,
  frontier: frontierGroupDispatch,
  pipelining: completeGroupPipelining,
} as const satisfies Readonly<Record<string, AnyPolicyDefinition>>;

const ofAdmission = speculativeAdmission.events.filter((message) => message.type !== roundOpened.type);
const events = [roundRequested, ...ofAdmission, ...trainerReports] as readonly EventMessage<
  TailPipeliningEvent['type']
>[];

// Rounds and requests end in the admission, which tells the trainer and the frontier. The admission also launches again the
// requests for which the frontier waits.
const decisions = partDecisions<TailPipeliningDecision>(parts, [roundResumed.type, requestAwaited.type]);

/** Runs tail batching, and trains the rounds while they are generated. */
export const tailPipelining: RecipeDefinition<TailPipeliningTypes> = defineRecipe({
  id: 'tail-pipelining',
  version: 1,
  summary: 'Tail batching whose counted prompts are trained while the rest of the round is generated.',
  source: 'RollPacker §3, RolloutPipe §3',
  config: tailPipeliningConfig,
  parts,
  configure: partConfigs,
  events,
  decisions,
  off: ({ frontier }) => (frontier ? [] : ['frontier']),
  deliver,
  // The queue plans a round, but only the other parts know whether a round may open.
  expects: (event, _, parts) => expectedOpenings(event, parts, openIn),
  routes,
  origins: {
    'round.opened': { event: 'round.requested' },
    // The assembly has a round as soon as one of its prompts counts.
    'group.rewarded': { parts: ['assembly', 'admission'] },
    'round.rewarded': { parts: ['assembly', 'admission'] },
    // The frontier waits for requests; the admission launches them.
    'request.arrived': { parts: ['admission'] },
  },
  ledgers: [joinedLedger('prompts', { queue: longPromptQueue }), joinedLedger('responses', { queue: longPromptQueue })],
});
