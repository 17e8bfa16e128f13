/**
 * The long tail without loss: a round has prompts whose responses are expected to be about equally long, and waits for all of
 * them. The recipe adds no scheduling of its own. See README.md.
 */
import { defineRecipe } from '../../core/recipe/recipe.ts';
import type { RecipeDefinition } from '../../core/recipe/spec.ts';
import type { LosslessTailEvent, LosslessTailTypes } from '../../generated/settings/lossless-tail.ts';
import { dividedRollout } from '../../policies/divided-rollout/index.ts';
import { roundComposition } from '../../policies/round-composition/index.ts';
import { speculativeAdmission } from '../../policies/speculative-admission/index.ts';
import { roundPlanned, sourceDrained } from '../../schemas/decisions/rounds.ts';
import { roundOpened, roundRequested } from '../../schemas/events/rounds.ts';
import type { EventMessage } from '../../schemas/vocabulary.ts';
import { expectedOpenings, joinedLedger, planned, suppliedTo } from '../tail-batching/joined.ts';
import { chunkEvents, dividedDelivery, dividedRoutes, withChunks } from './divided.ts';
import { losslessTailConfig, partConfigs } from './schema.ts';

const ofAdmission = speculativeAdmission.events.filter((message) => message.type !== roundOpened.type);
const ofChunks = chunkEvents.filter(({ type }) => !ofAdmission.some((message) => message.type === type));
const events = [roundRequested, ...ofAdmission, ...ofChunks] as readonly EventMessage<LosslessTailEvent['type']>[];
const decisions = [
  ...speculativeAdmission.decisions,
  roundPlanned,
  sourceDrained,
  ...dividedRollout.decisions,
] as const;

/**
 * Composes rounds by predicted length, and waits for all of their responses.
 *
 * A session begins with `engine.added` for each engine (with `placement: 'policy'`) and `round.requested`. The host supplies the
 * prompts of a window of rounds, carries out the commands, reports their results, trains the prompts that `round.completed` names,
 * and requests the next round after `round.drained`.
 */
export const losslessTail: RecipeDefinition<LosslessTailTypes> = defineRecipe({
  id: 'lossless-tail',
  version: 2,
  migrations: { 1: withChunks },
  summary: 'Rounds composed by predicted length; every response of every prompt is trained.',
  source: 'rollflex',
  config: losslessTailConfig,
  parts: { composition: roundComposition, admission: speculativeAdmission, chunks: dividedRollout },
  configure: partConfigs,
  events,
  decisions,
  deliver: (event, config, recipients) =>
    event.type === 'prompts.supplied' || event.type === 'round.failed'
      ? [suppliedTo(event)]
      : (dividedDelivery(event, config.dividedRollout !== undefined) ?? recipients),
  off: ({ dividedRollout }) => (dividedRollout === undefined ? ['chunks'] : []),
  origins: { 'round.opened': { event: 'round.requested' } },
  expects: (event, _, parts) => expectedOpenings(event, parts),
  routes: {
    composition: {
      'round.planned': planned,
    },
    admission: dividedRoutes,
  },
  ledgers: [
    joinedLedger('prompts', { composition: roundComposition }),
    joinedLedger('responses', { composition: roundComposition }),
  ],
});
