/** Planners of a host's own, for tests of the threads that compute plans. */
import { definePlanner, z } from 'rollflex';

const common = { version: 1, summary: 'For tests.', source: 'tests' };

export const sum = definePlanner({
  ...common,
  id: 'own-sum',
  input: z.strictObject({ terms: z.array(z.number()) }),
  plan: z.strictObject({ sum: z.number() }),
  compute: ({ terms }) => ({ sum: terms.reduce((one, other) => one + other, 0) }),
});

const nothing = { input: z.strictObject({}), plan: z.strictObject({}) };

/** Never ends, and never asks whether it is late. */
export const endless = definePlanner({
  ...common,
  ...nothing,
  id: 'own-endless',
  compute: () => {
    for (;;);
  },
});

/** Ends its thread. */
export const exit = definePlanner({ ...common, ...nothing, id: 'own-exit', compute: () => process.exit(3) });
