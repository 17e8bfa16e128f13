/** Events: GPUs move between rollout and training, and their requests migrate. */
import { z } from 'zod';
import { runningRequest } from '../gpus.ts';
import { gpuId } from '../training.ts';
import { message, positiveCount, queryId, releaseId, requestId, roundId } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

const ofRelease = releaseId.optional().describe('The release that `gpus.release` asked for, where there was one.');

const attempt = positiveCount
  .optional()
  .describe('Which try: that of the `request.migrate`; absent for the first one, that of `gpus.release`.');

export const progressReported = defineEvent(
  'progress.reported',
  'The answer to a `progress.query`: every request that is running or waiting on an engine, once.',
  {
    queryId,
    requests: z
      .array(runningRequest)
      .refine((all) => new Set(all.map((one) => one.requestId)).size === all.length, 'expected each request once')
      .describe('All requests in flight, in any order, each once.'),
  },
);
export const requestMigrated = defineEvent(
  'request.migrated',
  'A request has left its engine and goes on, with its tokens, on the one that it was sent to.',
  { releaseId, requestId, attempt },
);
export const migrationFailed = defineEvent(
  'migration.failed',
  'A request could not be moved; it is where it was, or nowhere.',
  { releaseId, requestId, attempt, message },
);
export const gpusReleased = defineEvent(
  'gpus.released',
  'These GPUs have left the rollout of the round and may train. May be repeated.',
  { roundId, releaseId: ofRelease, gpuIds: z.array(gpuId).describe('GPUs that were released.') },
);
export const gpusReleaseFailed = defineEvent(
  'gpus.release.failed',
  'The GPUs could not be released; requests that have moved stay where they are now.',
  { releaseId, message },
);
export const gpusReturned = defineEvent('gpus.returned', 'These GPUs belong to the rollout again. May be repeated.', {
  roundId: roundId
    .optional()
    .describe('The round that they were released in; a host that has forgotten it leaves it out.'),
  releaseId: ofRelease,
  gpuIds: z.array(gpuId).describe('GPUs that went back.'),
});
