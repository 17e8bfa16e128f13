/** Options of a decision log. */
import { z } from 'zod';

const mebibyte = 1 << 20;

/** Schema of {@link DecisionLogOptions}; the options of `rollflex serve` are made from it. */
export const decisionLogSchema = z.strictObject({
  logDir: z.string().min(1).describe('Directory of the decision log; one server at a time.'),
  logFileBytes: z
    .int()
    .min(64 * 1024)
    .max(1024 * mebibyte)
    .default(64 * mebibyte)
    .describe('Most bytes of one file of the decision log.'),
  logFiles: z
    .int()
    .min(2)
    .max(10_000)
    .default(8)
    .describe('Files of the decision log that are kept, the one being written included; the oldest leave.'),
  logWaitingBytes: z
    .int()
    .min(64 * 1024)
    .max(1024 * mebibyte)
    .default(16 * mebibyte)
    .describe('Most bytes of the decision log that wait for the disk; lines beyond are dropped, and counted.'),
});

/** Options of a decision log: its directory, and the bounds of its files. */
export type DecisionLogOptions = z.input<typeof decisionLogSchema>;
