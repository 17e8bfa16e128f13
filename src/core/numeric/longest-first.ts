/**
 * Spreads jobs over workers so that all workers end at about the same time: longest job first, each on the worker where it ends
 * earliest.
 */

/** A worker that may be busy, or slower than others. */
export interface Worker {
  /** Seconds until the worker is free, >= 0. */
  readonly freeInSeconds: number;
  /** Seconds for one unit of a job, > 0. */
  readonly secondsPerUnit: number;
}

/** An assignment of jobs to workers. */
export interface Spread {
  /** Indices of the jobs of each worker, longest first. */
  readonly shares: readonly (readonly number[])[];
  /** Seconds until the last worker is done; a worker without jobs counts with its `freeInSeconds`. */
  readonly makespanSeconds: number;
}

/**
 * Assigns jobs by longest processing time first (Graham 1969). With equal workers that are all free, the makespan is at most 4/3 −
 * 1/(3m) times the best; with workers of different speed, 19/12 times (Dobson 1984).
 *
 * Ties go to the job with the lower index, and to the worker with the lower index.
 *
 * @param sizes - units of each job, >= 0
 * @param workers - at least one
 * @returns the assignment, made in O(n log n + n · m) time for n jobs and m workers
 */
export function longestFirst(sizes: readonly number[], workers: readonly Worker[]): Spread {
  const order = sizes.map((_, index) => index).sort((a, b) => sizes[b]! - sizes[a]! || a - b);
  const shares: number[][] = workers.map(() => []);
  const ends = workers.map((one) => one.freeInSeconds);
  for (const job of order) {
    let best = 0;
    let bestEnd = Number.POSITIVE_INFINITY;
    for (let at = 0; at < workers.length; at += 1) {
      const end = ends[at]! + sizes[job]! * workers[at]!.secondsPerUnit;
      if (end >= bestEnd) continue;
      best = at;
      bestEnd = end;
    }
    shares[best]!.push(job);
    ends[best] = bestEnd;
  }
  return { shares, makespanSeconds: Math.max(0, ...ends) };
}
