/** Configuration of group-assembly. */
import { z } from 'zod';

/** Schema of the configuration. */
export const assemblyConfig = z.strictObject({
  askAgain: z
    .boolean()
    .default(true)
    .describe(
      'Whether a restarted host is asked for the rewards that have not come; if not, whoever computes them does so.',
    ),
});
