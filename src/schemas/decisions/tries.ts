/** Decisions: faults that tries of different items share. */
import { faultDomain } from '../faults.ts';
import { positiveCount, seconds } from '../units.ts';
import { defineDecision } from '../vocabulary.ts';

const suspendedSeconds = seconds.describe('How long there were only single tries, in seconds.');

export const triesSuspended = defineDecision(
  'tries.suspended',
  'notice',
  'Tries of different items fail one after the other in this domain: from now on there are only single tries, until one succeeds. No item is charged with what fails meanwhile. With the scope `prompt`, no more prompts are asked for.',
  faultDomain,
  {
    failing: {
      items: positiveCount.describe(
        'Different prompts, responses or samples whose tries have failed, none having succeeded since.',
      ),
      failures: positiveCount.describe('Tries that have failed, none having succeeded since.'),
      retrySeconds: seconds.optional().describe('Time until the next single try, in seconds; absent: there is none.'),
    },
  },
);
export const triesRecovered = defineDecision(
  'tries.recovered',
  'notice',
  'Tries in a domain that was suspended are made as usual again.',
  faultDomain,
  { succeeded: { suspendedSeconds }, told: { suspendedSeconds } },
);
