/** Decisions: the transfer of GPUs from rollout to training and back, and the fate of the requests on them. */
import { z } from 'zod';
import { enginePlace, migration, migrationBatch } from '../gpus.ts';
import { gpuId } from '../training.ts';
import { count, engineId, positiveCount, queryId, releaseId, requestId, roundId, tokenSum } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const attempts = count.describe('Tries to move the request.');
const budget = count.describe('Most tries to move a request.');
const progress = {
  finished: count.describe('Responses, or prompts, finished in the round.'),
  target: positiveCount.describe('How many the round needs.'),
};
/** The engine with the fullest KV cache in the projection. */
const fullest = {
  engineId: engineId.describe('The engine that is filled most, of those that would remain.'),
  projectedTokens: tokenSum.describe('Projected peak of its KV cache, in tokens.'),
  capacityTokens: tokenSum.describe('What its KV cache holds, in tokens.'),
};

export const progressQuery = defineDecision(
  'progress.query',
  'command',
  'Report all requests in flight with `progress.reported`.',
  { queryId, roundId },
  { milestone: { ...progress, sinceLast: count.describe('Finished since the evaluation before.') } },
);
export const gpusRelease = defineDecision(
  'gpus.release',
  'command',
  'Stop rollout on these engines, move their requests as listed (tokens kept, KV recomputed), report each with `request.migrated` or `migration.failed`, then answer with `gpus.released` or `gpus.release.failed`.',
  {
    releaseId,
    roundId,
    release: z.array(enginePlace).describe('Engines whose GPUs go to training.'),
    keep: z.array(engineId).describe('Engines that go on with rollout.'),
    migrations: z
      .array(migrationBatch)
      .describe(
        'Every request of the released engines once, by the engine that it leaves and the one that it goes to.',
      ),
  },
  { fits: { ...progress, ...fullest }, fixed_fraction: { ...progress, ...fullest } },
);
export const requestMigrate = defineDecision(
  'request.migrate',
  'command',
  'Move this request to another engine than was tried before; report as for `gpus.release`.',
  {
    releaseId,
    ...migration.shape,
    attempt: positiveCount.describe('Which try this is, from 2; it goes into the answer.'),
  },
  { migration_failed: { attempts: count.describe('Tries before this one.'), budget } },
);
export const migrationCancel = defineDecision(
  'migration.cancel',
  'command',
  'Do not let this request go on at the engine that it moves to, and stop it there if it does: it has ended.',
  { releaseId, requestId, to: migration.shape.to },
  { aborted: {}, completed: {}, migrated_after_end: {} },
);
export const migrationAbandoned = defineDecision(
  'migration.abandoned',
  'notice',
  'A request could not be moved from GPUs that have been released: it runs nowhere and has failed (infrastructure).',
  { releaseId, requestId },
  { tries_used_up: { attempts, budget }, no_engine: { attempts } },
);
export const gpusReclaim = defineDecision(
  'gpus.reclaim',
  'command',
  'Give the GPUs back to rollout as soon as no training of the round needs them; answer with `gpus.returned`.',
  {
    releaseId,
    engineIds: z.array(engineId).describe('The engines of these GPUs.'),
    gpuIds: z.array(gpuId).describe('The GPUs themselves.'),
  },
  {
    round_completed: {},
    round_replaced: {},
    engines_lost: { engineId: engineId.describe('The last engine that was rolling out.') },
    host_restarted: {},
    // With the following reasons no GPUs are released: the host returns to its earlier placement.
    release_failed: {},
    migration_failed: { requestId, attempts },
    engine_lost: { engineId },
    ended_before_release: {},
    restarted_before_release: {},
    asked_again: {},
  },
);
export const scaleDownRejected = defineDecision(
  'scale-down.rejected',
  'notice',
  'No GPUs are released at this milestone; the next one tries again.',
  { roundId },
  {
    no_partition: {
      gpus: count.describe('GPUs that roll out.'),
      wanted: count.describe('How many were to go, without splitting a group.'),
    },
    kv_cache: { ...progress, ...fullest },
    kv_cache_together: {
      ...progress,
      expectedTokens: tokenSum.describe('Expected peak of the KV caches of all engines together, in tokens.'),
      capacityTokens: tokenSum.describe('What those that would remain hold together, in tokens.'),
    },
    no_target: { engines: count.describe('Engines that would remain, none of which takes new requests.') },
    not_returned: { releaseId },
  },
);
export const scaleDownLate = defineDecision(
  'scale-down.late',
  'notice',
  'A report about something that is over: nothing changes.',
  { id: z.string().describe('Id of the query, the release, the request, the round or the engine.') },
  {
    query_closed: {},
    migration_closed: {},
    release_closed: {},
    released_late: {},
    round_closed: {},
    engine_replaced: {},
  },
);
