import fc from 'fast-check';

/**
 * How often a property runs. `npm test` makes a tenth of the runs, `npm run test:all` all of them, and `ROLLFLEX_RUNS`
 * says another share: long sessions ask for more than 1.
 */
export const scale = Number(process.env.ROLLFLEX_RUNS ?? 1);

/** That share of a number of runs, at least 1. */
export const times = (count: number): number => Math.max(1, Math.ceil(count * scale));

/** What so many runs must have met, if all runs must have met `count`: fewer vary more. */
export const met = (count: number): number => (scale < 1 ? Math.floor((count * scale) / 2) : times(count));

/** That share of a list of slow cases: every so-and-so-many, the first always. */
export const some = <T>(cases: readonly T[]): T[] =>
  cases.filter((_, at) => at % Math.max(1, Math.round(1 / scale)) === 0);

/** Parameters of `fc.assert`; at the first failure it is done, without making it smaller. */
export const runs = (numRuns: number) => ({ numRuns: times(numRuns), endOnFailure: true });

/** Runs what must fail, and asks only how: the first failing run is not made smaller, which can take ten times as long as to find it. */
export function unshrunk<T>(work: () => T): T {
  const usual = fc.readConfigureGlobal();
  fc.configureGlobal({ ...usual, endOnFailure: true });
  try {
    return work();
  } finally {
    fc.configureGlobal(usual);
  }
}
