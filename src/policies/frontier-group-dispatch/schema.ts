/** Configuration of frontier-group-dispatch. */
import { z } from 'zod';
import { idPrefix, positiveCount } from '../../schemas/units.ts';

export const frontierConfig = z.strictObject({
  responsesPerPrompt: positiveCount.describe('K: requests of a group; it has left when that many have ended.'),
  width: z
    .union([positiveCount, z.literal('auto')])
    .describe('F_w: most groups in service at once; `auto`: measured and planned anew for every round.'),
  groupsPerUpdate: positiveCount
    .default(1)
    .describe('U: groups that the trainer takes at a time; what `auto` and the suggested width reckon with.'),
  startRequests: positiveCount
    .default(96)
    .describe('Requests that `auto` keeps in service while nothing is known of the engines.'),
  starvedShare: z
    .number()
    .positive()
    .max(1)
    .default(0.2)
    .describe('Share of its time that the trainer must wait, while groups are deferred, for a `frontier.starved`.'),
  awaitRetries: z
    .boolean()
    .default(false)
    .describe(
      'Whether a failed request keeps its place until another comes for it, or `response.abandoned`; if not, it has failed for good.',
    ),
  closeAtOnce: z
    .boolean()
    .default(false)
    .describe('Whether a closed group leaves at once, with what still runs of it; if not, as soon as that has ended.'),
  idPrefix: idPrefix.default('').describe('What stands before every request id; new after each restart of the host.'),
});
