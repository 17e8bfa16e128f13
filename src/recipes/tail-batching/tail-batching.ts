import { defineRecipe } from '../../core/recipe/recipe.ts';
import type { RecipeDefinition } from '../../core/recipe/spec.ts';
import type {
  TailBatchingConfig,
  TailBatchingEvent,
  TailBatchingTypes,
} from '../../generated/settings/tail-batching.ts';
import { longPromptQueue } from '../../policies/long-prompt-queue/index.ts';
import { queueSettings } from '../../policies/long-prompt-queue/schema.ts';
import { promptSelection } from '../../policies/prompt-selection/index.ts';
import { speculativeAdmission } from '../../policies/speculative-admission/index.ts';
import { admissionConfig } from '../../policies/speculative-admission/schema.ts';
import { groupRewarded } from '../../schemas/decisions/groups.ts';
import { promptsReleased, roundPlanned, sourceDrained } from '../../schemas/decisions/rounds.ts';
import { epochEnded, promptsPassed, promptsSelected } from '../../schemas/decisions/selection.ts';
import { roundOpened, roundRequested } from '../../schemas/events/rounds.ts';
import type { EventMessage } from '../../schemas/vocabulary.ts';
import { domainsOf, expectedOpenings, joinedLedger, planned, released, rewardTo } from './joined.ts';
import {
  checkSelection,
  partConfig,
  selected,
  selectedAdmission,
  selectionFirst,
  selectionSwitch,
  withSelection,
} from './selection.ts';

/** Configuration of tail-batching: flat, so that each setting appears once. */
export const tailBatchingConfig = admissionConfig
  .safeExtend({ ...queueSettings, ...selectionSwitch })
  .superRefine((config, context) =>
    checkSelection(config, (path, message) => context.addIssue({ code: 'custom', path: path.split('.'), message })),
  );

const internal = new Set<string>([roundOpened.type]);
const fromOutside = speculativeAdmission.events.filter((message) => !internal.has(message.type));
const events = [roundRequested, ...fromOutside, groupRewarded] as readonly EventMessage<TailBatchingEvent['type']>[];
const decisions = [
  ...speculativeAdmission.decisions,
  ...[roundPlanned, promptsReleased, sourceDrained],
  ...[promptsSelected, promptsPassed, epochEnded],
] as const;

const holders = { selection: promptSelection, queue: longPromptQueue };

/**
 * Runs short rounds with speculation, and long rounds for the prompts that they defer.
 *
 * A session begins with `engine.added` for each engine (with `placement: 'policy'`) and `round.requested`. The host carries out the
 * commands, reports their results, trains the prompts that `round.completed` names, and requests the next round after
 * `round.drained`. The host sends rewards unasked, by `reward.ready`.
 */
export const tailBatching: RecipeDefinition<TailBatchingTypes> = defineRecipe({
  id: 'tail-batching',
  version: 2,
  migrations: { 1: withSelection },
  summary: 'Short rounds with speculative admission; deferred prompts are batched in long rounds.',
  source: 'RollPacker §3',
  config: tailBatchingConfig,
  parts: { queue: longPromptQueue, admission: speculativeAdmission, selection: promptSelection },
  configure: ({ order, maxDeferrals, maxWaitRounds, promptSelection, ...admission }: TailBatchingConfig) => ({
    selection: partConfig({ ...admission, promptSelection }),
    queue: {
      promptsPerRound: admission.promptsPerRound,
      promptSpeculation: promptSelection === undefined ? admission.promptSpeculation : 1,
      order,
      maxDeferrals,
      maxWaitRounds,
      domains: domainsOf(admission),
      maxStaleness: admission.partialRollout ? admission.maxStaleness : 0,
    },
    admission: { ...admission, ...selectedAdmission({ ...admission, promptSelection }) },
  }),
  events,
  decisions,
  off: ({ promptSelection }) => (promptSelection === undefined ? ['selection'] : []),
  deliver: (event, { promptSelection }, recipients) => {
    if (event.type === 'reward.ready') return [rewardTo(event)];
    if (event.type === 'prompts.supplied' && promptSelection !== undefined) return ['selection'];
    return selectionFirst(recipients);
  },
  origins: { 'round.opened': { event: 'round.requested' } },
  expects: (event, _, parts) => expectedOpenings(event, parts),
  routes: {
    selection: {
      'prompts.selected': selected,
      // The queue says when no prompt is left.
      'source.drained': { out: false },
    },
    admission: {
      'prompts.request': { out: ({ promptSelection }: TailBatchingConfig) => promptSelection === undefined },
      'prompt.deferred': { to: ['queue'] },
      'prompt.returned': { to: ['queue'] },
    },
    queue: {
      'round.planned': planned,
      'prompts.released': released,
      // Stays inside: the admission asks for the missing prompts, because only the admission knows the carried prompts.
      'prompts.request': { out: false, to: [] },
    },
  },
  ledgers: [joinedLedger('prompts', holders), joinedLedger('responses', holders)],
});
