/** Decisions: which groups are in service, and how many. */
import { z } from 'zod';
import { count, positiveCount, promptId, ref, requestId, roundId, seconds } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const inService = count.describe('Groups in service, this one included.');
const width = positiveCount.describe('F_w: most groups in service at once.');
const order = count.describe('Place of the group in its round.');

export const requestAdmit = defineDecision(
  'request.admit',
  'command',
  'Let this request into an engine.',
  {
    requestId,
    promptId,
    roundId,
    index: count.describe('Which response of the group, from 0.'),
    ref: ref.optional(),
  },
  { group_admitted: { order, inService, width }, in_frontier: { order, inService, width } },
);
export const requestDeferred = defineDecision(
  'request.deferred',
  'notice',
  'A request waits, since its group is not in the frontier.',
  { requestId, promptId, roundId },
  { frontier_full: { order, inService: count.describe('Groups in service.'), width } },
);
export const requestDropped = defineDecision(
  'request.dropped',
  'notice',
  'A request is given up before it has ended; what comes of it later is late.',
  {
    requestId,
    promptId,
    roundId,
    index: count.describe('Which response of the group, from 0.'),
    admitted: z.boolean().describe('Whether an engine has it, which is to stop it.'),
  },
  {
    aborted: {},
    replaced: { ended: z.boolean().describe('Whether it had ended before: it had failed, or was aborted.') },
    closed: {},
    host_restarted: {},
  },
  { left: { requests: (one) => [one.requestId] } },
);
const ended = {
  completed: count.describe('Responses that were completed.'),
  givenUp: count.describe('Responses that failed for good or were aborted.'),
  servedSeconds: seconds.describe('How long it was in service; 0 if it never was.'),
};
export const groupLeft = defineDecision(
  'group.left',
  'notice',
  'Nothing of a group runs or waits any more: its slot is free.',
  { promptId, roundId, requestIds: z.array(requestId).describe('Its requests that have ended, by index.') },
  { all_ended: ended, closed: ended },
  { left: { requests: (one) => one.requestIds } },
);
const rate = z.number().nonnegative();
export const frontierResized = defineDecision(
  'frontier.resized',
  'notice',
  'From now on at most this many groups are in service; those that are stay.',
  { width },
  {
    learning: {
      unfinished: count.describe('Requests of the groups in service that have not ended.'),
      startRequests: positiveCount.describe('How many may be in service until a width can be planned.'),
    },
    planned: {
      groups: positiveCount.describe('Groups of the round that was planned for.'),
      expectedSeconds: seconds.describe('When the trainer is expected to be done, seconds from the first admission.'),
      stepSeconds: seconds.describe('Seconds a token of a response, with nothing else in service.'),
      stepSecondsPerRequest: seconds.describe('Further seconds per token for each request in service.'),
      stepSecondsPerContextToken: seconds.describe('Further seconds per token for each token that those have.'),
      trainSecondsPerGroup: seconds.describe('What the trainer takes for a group; 0 while unknown.'),
    },
  },
);
export const frontierStarved = defineDecision(
  'frontier.starved',
  'notice',
  'The trainer waits while groups are deferred: the frontier is too narrow for it.',
  { roundId, width, suggestedWidth: positiveCount.describe('A width that would have been better for this round.') },
  {
    trainer_waits: {
      waitedSeconds: seconds.describe('What the trainer has waited since its first groups of the round.'),
      busySeconds: seconds.describe('What it has worked meanwhile.'),
      servedGroupsPerSecond: rate.describe('Groups that have left the frontier, a second.'),
      trainedGroupsPerSecond: rate.describe('Groups that the trainer takes, a second of its work.'),
    },
  },
);
export const requestAwaited = defineDecision(
  'request.awaited',
  'notice',
  'A group waits for a request that is not here: bring it by `request.arrived`.',
  { promptId, roundId, index: count.describe('Which response of the group, from 0.'), ref: ref.optional() },
  { host_restarted: {} },
);
