import fc from 'fast-check';

// Every property runs from one seed, so that a failure in CI can be repeated: ROLLFLEX_SEED=… npm test.
// ROLLFLEX_RUNS multiplies the number of runs, for long sessions.
const seed = Number(process.env.ROLLFLEX_SEED ?? 20261121);
fc.configureGlobal({ seed, endOnFailure: false });

// Lines of progress come by the clock: on a slow machine they would come at other places.
process.env.ROLLFLEX_PROGRESS ??= 'off';
