/** Policies with defects, for what a server answers when one breaks. */
import { definePolicy, longPromptQueue } from 'rollflex';

const breaks = () => {
  throw new TypeError('a secret');
};
const { kind: _, ...rest } = longPromptQueue;

/** One that breaks when an event comes, one that cannot even be opened. */
export const wrongPolicies = [
  definePolicy({ ...rest, id: 'test/breaks', apply: breaks }),
  definePolicy({ ...rest, id: 'test/no-start', init: breaks }),
];
