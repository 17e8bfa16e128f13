/** Events: reports of a trainer that is fed during the rollout. */
import { z } from 'zod';
import { publicationId, updateId } from '../pipelining.ts';
import { groupId } from '../training.ts';
import { count, message, roundId, seconds, weightVersion } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

export const updateConsumed = defineEvent(
  'update.consumed',
  'The trainer has accumulated the gradients of these groups of a `train.dispatch`; in one report or in several.',
  {
    updateId,
    groups: z.array(groupId).min(1).describe('Groups of the update that were not reported before.'),
    seconds: seconds.describe('How long the trainer computed for them, in seconds.'),
  },
);
export const updateLost = defineEvent(
  'update.lost',
  'No gradient of a `train.dispatch` is there: it never arrived, failed, or its step failed.',
  { updateId, message },
);
export const trainerRestarted = defineEvent(
  'trainer.restarted',
  'The trainer is there again, without gradients, and with the weights of an earlier moment of the round.',
  { roundId, updates: count.describe('Updates of the round that are in these weights, from the first one on.') },
);
export const weightsPublished = defineEvent(
  'weights.published',
  'The rollout engines have the weights that a `weights.publish` asked for, or that came of a `train.batch`.',
  {
    roundId,
    publicationId,
    weightVersion: weightVersion.describe('Version of these weights: later than that of the round.'),
  },
);
