/** Mutation tests ask for the laws and golden traces of one definition at a time: `ROLLFLEX_ONLY`. */
const only = process.env.ROLLFLEX_ONLY;

/** Whether all definitions are tested. */
export const isWhole = only === undefined;

/** Whether the tests of this definition are wanted. */
export const isChosen = (id: string): boolean => isWhole || only === id;

/** What is expected of a recorded trace, as the tests say it. */
export const traceTitle = 'decisions are the same to the byte';
