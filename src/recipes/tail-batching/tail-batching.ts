import { defineRecipe } from '../../core/recipe/recipe.ts';
import type { RecipeDefinition } from '../../core/recipe/spec.ts';
import type {
  TailBatchingConfig,
  TailBatchingEvent,
  TailBatchingTypes,
} from '../../generated/settings/tail-batching.ts';
import { longPromptQueue } from '../../policies/long-prompt-queue/index.ts';
import { queueSettings } from '../../policies/long-prompt-queue/schema.ts';
import { speculativeAdmission } from '../../policies/speculative-admission/index.ts';
import { admissionConfig } from '../../policies/speculative-admission/schema.ts';
import { promptsReleased, roundPlanned, sourceDrained } from '../../schemas/decisions/rounds.ts';
import { roundOpened, roundRequested } from '../../schemas/events/rounds.ts';
import type { EventMessage } from '../../schemas/vocabulary.ts';
import { domainsOf, expectedOpenings, joinedLedger, planned, released, rewardTo } from './joined.ts';

/** Configuration of tail-batching: flat, so that each setting appears once. */
export const tailBatchingConfig = admissionConfig.safeExtend(queueSettings);

const internal = new Set<string>([roundOpened.type]);
const fromOutside = speculativeAdmission.events.filter((message) => !internal.has(message.type));
const events = [roundRequested, ...fromOutside] as readonly EventMessage<TailBatchingEvent['type']>[];
const decisions = [...speculativeAdmission.decisions, roundPlanned, promptsReleased, sourceDrained] as const;

/**
 * Runs short rounds with speculation, and long rounds for the prompts that they defer.
 *
 * A session begins with `engine.added` for each engine (with `placement: 'policy'`) and `round.requested`. The host carries out the
 * commands, reports their results, trains the prompts that `round.completed` names, and requests the next round after
 * `round.drained`. The host sends rewards unasked, by `reward.ready`.
 */
export const tailBatching: RecipeDefinition<TailBatchingTypes> = defineRecipe({
  id: 'tail-batching',
  version: 1,
  summary: 'Short rounds with speculative admission; deferred prompts are batched in long rounds.',
  source: 'RollPacker §3',
  config: tailBatchingConfig,
  parts: { queue: longPromptQueue, admission: speculativeAdmission },
  configure: ({ order, maxDeferrals, maxWaitRounds, ...admission }: TailBatchingConfig) => ({
    queue: {
      promptsPerRound: admission.promptsPerRound,
      promptSpeculation: admission.promptSpeculation,
      order,
      maxDeferrals,
      maxWaitRounds,
      domains: domainsOf(admission),
      maxStaleness: admission.partialRollout ? admission.maxStaleness : 0,
    },
    admission,
  }),
  events,
  decisions,
  deliver: (event, _, recipients) => (event.type === 'reward.ready' ? [rewardTo(event)] : recipients),
  origins: { 'round.opened': { event: 'round.requested' } },
  expects: (event, _, parts) => expectedOpenings(event, parts),
  routes: {
    queue: {
      'round.planned': planned,
      'prompts.released': released,
      // Stays inside: the admission asks for the missing prompts, because only the admission knows the carried prompts.
      'prompts.request': { out: false },
    },
  },
  ledgers: [joinedLedger('prompts', { queue: longPromptQueue }), joinedLedger('responses', { queue: longPromptQueue })],
});
