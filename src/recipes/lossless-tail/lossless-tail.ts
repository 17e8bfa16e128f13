/**
 * The long tail without loss: a round has prompts whose responses are expected to be about equally long, and waits for all of
 * them. The recipe adds no scheduling of its own. See README.md.
 */
import { defineRecipe } from '../../core/recipe/recipe.ts';
import type { Delivery, RecipeDefinition } from '../../core/recipe/spec.ts';
import type {
  LosslessTailConfig,
  LosslessTailEvent,
  LosslessTailTypes,
} from '../../generated/settings/lossless-tail.ts';
import { dividedRollout } from '../../policies/divided-rollout/index.ts';
import { promptSelection } from '../../policies/prompt-selection/index.ts';
import { roundComposition } from '../../policies/round-composition/index.ts';
import { speculativeAdmission } from '../../policies/speculative-admission/index.ts';
import { groupRewarded } from '../../schemas/decisions/groups.ts';
import { roundPlanned, sourceDrained } from '../../schemas/decisions/rounds.ts';
import { epochEnded, promptsSelected } from '../../schemas/decisions/selection.ts';
import { roundOpened, roundRequested } from '../../schemas/events/rounds.ts';
import type { Message } from '../../schemas/messages.ts';
import type { EventMessage } from '../../schemas/vocabulary.ts';
import { expectedOpenings, joinedLedger, planned, suppliedTo } from '../tail-batching/joined.ts';
import { selectionFirst, withSelection } from '../tail-batching/selection.ts';
import { chunkEvents, dividedDelivery, dividedRoutes, withChunks } from './divided.ts';
import { losslessTailConfig, partConfigs } from './schema.ts';

const ofAdmission = speculativeAdmission.events.filter((message) => message.type !== roundOpened.type);
const ofChunks = chunkEvents.filter(({ type }) => !ofAdmission.some((message) => message.type === type));
const events = [roundRequested, ...ofAdmission, ...ofChunks, groupRewarded] as readonly EventMessage<
  LosslessTailEvent['type']
>[];
const decisions = [
  ...speculativeAdmission.decisions,
  roundPlanned,
  sourceDrained,
  ...dividedRollout.decisions,
  promptsSelected,
  epochEnded,
] as const;
const holders = { selection: promptSelection, composition: roundComposition };
/** Prompts are asked for by the selection, where it is on. */
const unselected = { out: ({ promptSelection }: LosslessTailConfig) => promptSelection === undefined };

/**
 * Composes rounds by predicted length, and waits for all of their responses.
 *
 * A session begins with `engine.added` for each engine (with `placement: 'policy'`) and `round.requested`. The host supplies the
 * prompts of a window of rounds, carries out the commands, reports their results, trains the prompts that `round.completed` names,
 * and requests the next round after `round.drained`.
 */
export const losslessTail: RecipeDefinition<LosslessTailTypes> = defineRecipe({
  id: 'lossless-tail',
  version: 3,
  migrations: { 1: withChunks, 2: withSelection },
  summary: 'Rounds composed by predicted length; every response of every prompt is trained.',
  source: 'rollflex',
  config: losslessTailConfig,
  parts: {
    composition: roundComposition,
    admission: speculativeAdmission,
    chunks: dividedRollout,
    selection: promptSelection,
  },
  configure: partConfigs,
  events,
  decisions,
  deliver: (event, config, recipients) => {
    if (event.type === 'prompts.supplied' && config.promptSelection !== undefined) return ['selection'];
    if (event.type === 'prompts.supplied') return [suppliedTo(event)];
    if (event.type === 'round.failed') return ['selection', suppliedTo(event)];
    return dividedDelivery(event, config.dividedRollout !== undefined) ?? selectionFirst(recipients);
  },
  off: ({ dividedRollout, promptSelection }) => [
    ...(dividedRollout === undefined ? ['chunks'] : []),
    ...(promptSelection === undefined ? ['selection'] : []),
  ],
  origins: { 'round.opened': { event: 'round.requested' } },
  expects: (event, _, parts) => expectedOpenings(event, parts),
  routes: {
    selection: {
      'prompts.selected': {
        to: ({ at, roundId, prompts }: Message<'prompts.selected'>): Delivery[] => {
          const event: Message<'prompts.supplied'> = { type: 'prompts.supplied', at, roundId, prompts };
          return [{ ...suppliedTo(event), first: true }];
        },
      },
      // The composition says when no prompt is left.
      'source.drained': { out: false },
    },
    composition: { 'round.planned': planned, 'prompts.request': unselected },
    admission: {
      ...dividedRoutes,
      'prompts.request': unselected,
      'prompt.deferred': { to: ['composition'] },
      'prompt.returned': { to: ['composition'] },
    },
  },
  ledgers: [joinedLedger('prompts', holders), joinedLedger('responses', holders)],
});
