/** Configuration of watchdog. */
import { z } from 'zod';
import { positiveCount, positiveSeconds } from '../../schemas/units.ts';

export const watchdogConfig = z
  .strictObject({
    floorSeconds: positiveSeconds
      .max(86_400)
      .default(60)
      .describe('No answer is overdue earlier, in seconds, > 0 and at most a day.'),
    startSeconds: positiveSeconds
      .max(864_000)
      .default(1800)
      .describe(
        'When an answer is overdue while fewer than 8 of its kind have come, in seconds, > 0 and at most ten days.',
      ),
    factor: z
      .number()
      .min(1)
      .max(1000)
      .default(3)
      .describe('An answer is overdue after this many times what 99 % of the answers of its kind have taken.'),
    maxOwed: positiveCount
      .max(10_000_000)
      .default(100_000)
      .describe('Most answers whose wait is followed; the oldest are forgotten.'),
  })
  .refine((config) => config.floorSeconds <= config.startSeconds, {
    message: 'a floor that is not above startSeconds',
    path: ['floorSeconds'],
  });
