/** Configuration of group-assembly. */
import { z } from 'zod';

export const assemblyConfig = z.strictObject({
  askAgain: z
    .boolean()
    .default(true)
    .describe(
      'Whether the host is asked again, by `reward.request`, for rewards that have not come after its restart.',
    ),
});
