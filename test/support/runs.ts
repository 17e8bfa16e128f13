/** How often a property runs: so many times `ROLLFLEX_RUNS`, which long sessions raise and mutation tests lower. */
const scale = Number(process.env.ROLLFLEX_RUNS ?? 1);

/** Parameters of `fc.assert`; at the first failure it is done, without making it smaller. */
export const runs = (numRuns: number) => ({ numRuns: Math.ceil(numRuns * scale), endOnFailure: true });
