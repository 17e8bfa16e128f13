/** Decisions: groups to generate while the trainer works, and batches for the trainer. */
import { z } from 'zod';
import { publicationId } from '../pipelining.ts';
import { groupId, launchId, pacedGroup } from '../training.ts';
import { count, ref, roundId, tokenSum, weightVersion } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const allowed = {
  groups: count.describe('Groups that are launched and in no batch yet, this one included.'),
  allowed: count.describe('How many these may be, so that none gets too old.'),
};
export const groupLaunch = defineDecision(
  'group.launch',
  'command',
  'Generate all responses of a group, and answer `group.completed`, or `group.rejected`.',
  {
    roundId,
    groupId,
    launchId,
    weightVersion: weightVersion.describe('Version of the weights that the engines have now, at least.'),
    ref: ref.optional(),
  },
  { within_staleness: allowed, host_restarted: allowed },
);
const batch = {
  finished: count.describe('Groups that were complete and in no batch yet.'),
  inFlight: count.describe('Groups that were generated then.'),
  largestLag: count.describe('Most versions that one of its groups is behind the weights that are trained.'),
};
export const trainBatch = defineDecision(
  'train.batch',
  'command',
  'Train on these groups, bring the weights that come of it to the engines, and answer `weights.published`. The same id again is the same batch: do not train on it twice.',
  {
    roundId,
    publicationId,
    weightVersion: weightVersion.describe(
      'Version of the weights that come of it: one more than that of those trained.',
    ),
    groups: z.array(pacedGroup).min(1).describe('Its groups, in the order in which they were launched.'),
    samples: count.describe('Samples of these groups.'),
    tokens: tokenSum.describe('Tokens of these groups.'),
  },
  { batch_ready: batch, source_exhausted: batch, host_restarted: batch },
);
export const groupDrop = defineDecision(
  'group.drop',
  'command',
  'Give this group up: stop what generates it, and discard what it has. Only after the weights have advanced by more than a version.',
  { roundId, groupId, launchId, ref: ref.optional() },
  {
    version_skipped: {
      startVersion: weightVersion.describe('Version of the weights that it was launched with.'),
      weightVersion: weightVersion.describe('Version of the weights that are trained next.'),
      maxStaleness: count.describe('Most versions that its first tokens may be behind.'),
      tokens: tokenSum.describe('Tokens that it has, where it is complete; otherwise 0.'),
    },
  },
);
