/** Searches for the smallest failing run, for a limited time, and reports it. */
import fc from 'fast-check';

/** Options of a search for a failing run. */
export interface SearchOptions {
  /** Configuration of the policy. */
  readonly config: unknown;
  /** Number of runs per law, by default 30. */
  readonly runs?: number;
  /** Events in a run, by default 60. */
  readonly events?: number;
  /** Seed for fast-check; without it, fast-check uses its global seed. */
  readonly seed?: number;
  /** Seconds for each law, including the search for a smaller failing run; by default 60. A law that takes longer fails. */
  readonly limitSeconds?: number;
}

/** Makes tapes of choices, from which runs of events follow; the tapes shrink. */
export function tapes(): fc.Arbitrary<number[]> {
  return fc.array(fc.nat({ max: 999_983 }), { minLength: 1, maxLength: 400, size: 'max' });
}

/** Writes a run for messages, one event a line; of a long run, only the end, which contains the fault. */
export function textOfRun(run: readonly { readonly type: string }[], what = 'events'): string {
  const most = 30;
  const lines = run.slice(-most).map((one) => `\n  ${JSON.stringify(one)}`);
  const cut = run.length > most ? `, the last ${most}` : '';
  return `\nThe run (${run.length} ${what}${cut}):${lines.join('')}`;
}

/** Returns the message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Removes every event that the failure does not need from a run, from the end to the beginning.
 *
 * @param check - throws if the run fails
 * @param seconds - time limit; events not tried by then stay
 * @returns the remaining events, and the message of their error; undefined if the run does not fail
 */
export function trimmed<T>(
  run: readonly T[],
  check: (run: readonly T[]) => void,
  seconds: number,
): { readonly run: readonly T[]; readonly message: string } | undefined {
  const failure = (events: readonly T[]) => {
    try {
      check(events);
      return undefined;
    } catch (error) {
      return { run: events, message: messageOf(error) };
    }
  };
  const end = performance.now() + seconds * 1000;
  let smallest = failure(run);
  for (let at = run.length - 1; at >= 0 && smallest !== undefined && performance.now() < end; at -= 1) {
    const without = smallest.run.filter((_, index) => index !== at);
    if (without.length > 0) smallest = failure(without) ?? smallest;
  }
  return smallest;
}

/**
 * Runs a check on tapes, and shrinks a failing one.
 *
 * @param says - the fault, for the message of the error
 * @param explain - returns the message for the smallest failing tape; by default the message of its error
 * @throws Error with the fault, the seed, and the message of the smallest failing run
 */
export function search(
  says: string,
  options: SearchOptions,
  check: (tape: readonly number[], length: number) => void,
  explain?: (tape: readonly number[], length: number) => string,
): void {
  const { runs = 30, events = 60, seed, limitSeconds = 60 } = options;
  const result = fc.check(fc.property(tapes(), fc.integer({ min: 1, max: events }), check), {
    numRuns: runs,
    interruptAfterTimeLimit: limitSeconds * 1000,
    markInterruptAsFailure: true,
    ...(seed === undefined ? {} : { seed }),
  });
  if (!result.failed) return;
  const error = result.errorInstance ?? `not done in ${limitSeconds} s, ${result.numRuns} runs`;
  const found = result.errorInstance === null ? null : result.counterexample;
  const cause = explain !== undefined && found !== null ? explain(...found) : messageOf(error);
  throw new Error(`${says}, seed ${result.seed}: ${cause}`, { cause: error });
}
