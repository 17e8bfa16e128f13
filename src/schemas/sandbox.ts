/** Sandboxes: estimates for timeouts that were not used. */
import { z } from 'zod';
import { count, seconds } from './units.ts';

export type { TimeoutEstimate } from '../generated/messages/objects.ts';

export const timeoutEstimate = z
  .strictObject({
    timeoutFactor: z.number().describe('λ.'),
    correctKilled: count.describe('Correct runs that its timeout would have stopped; as far as runs were seen to end.'),
    exploredKilled: count.describe('Those among them that had been given Tmax to explore: seen whatever λ is in use.'),
    unknown: count.describe('Timed-out runs that it would have let go on: whether they were correct is not known.'),
    runSeconds: seconds.describe('Seconds that the runs would have taken; those unknown count up to its timeout.'),
  })
  .describe('What one λ would have cost and saved on the runs that are remembered.');
