/** Events: requests that arrive at the admission control before the engines. */
import { count, promptId, ref, requestId, roundId } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

export const requestArrived = defineEvent(
  'request.arrived',
  'A request is ready for an engine and waits until it is admitted.',
  {
    requestId: requestId.describe('Id of the request, given by the host; new for each try.'),
    promptId: promptId.describe('Id of the prompt; its responses are one group.'),
    roundId,
    index: count.describe('Which response of the group, from 0; a later request for it takes its place.'),
    order: count
      .optional()
      .describe('Place of the group in its round, lowest first; absent: after all groups that came before.'),
    ref: ref.optional(),
  },
  { entered: { requests: (one) => [one.requestId] } },
);
