/** Policies with defects, for what a server answers when one breaks. */
import { definePolicy, handlersOf, z } from 'rollflex';
import { roundRequested } from 'rollflex/schemas';

const breaks = () => {
  throw new TypeError('a secret');
};
const policy = {
  version: 1,
  summary: 'It breaks.',
  source: 'a test',
  config: z.strictObject({ promptsPerRound: z.int().positive() }),
  state: z.strictObject({}),
  begin: () => ({}),
  handlers: [handlersOf()(roundRequested, breaks)],
  decisions: [],
  ledgers: [],
};

/** One that breaks when an event comes, one that cannot even be opened. */
export const wrongPolicies = [
  definePolicy({ ...policy, id: 'test/breaks' }),
  definePolicy({ ...policy, id: 'test/no-start', begin: breaks }),
];
