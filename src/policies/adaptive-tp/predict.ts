/**
 * Predicts the duration of a rollout from a profile (RollPacker §4.1).
 *
 * Requests are spread evenly over the replicas and start together. The mean m and the maximum M of response lengths are known;
 * the share that still runs after t tokens is assumed to be (1 − t/M)^(M/m − 1), which has this mean and maximum. Then one
 * replica is simulated like vLLM, with some tens of groups of equal sequences: a group is admitted when its context fits the
 * memory, and all running groups decode together. When the next tokens do not fit, the newest group waits with its tokens and is
 * prefilled again later.
 */

import { z } from 'zod';
import { parse } from '../../core/machine/validate.ts';
import { refuse } from '../../errors.ts';
import { type ProfileRow, profileRow, type RolloutWorkload, rolloutWorkload } from '../../schemas/parallelism.ts';
import { positiveCount } from '../../schemas/units.ts';
import type { Parallelism } from './schema.ts';
import { type Surface, surfaceKey, surfacesOf, valueAt } from './surface.ts';

interface Group {
  readonly order: number;
  readonly sequences: number;
  readonly tokens: number;
  done: number;
}

/** Rounds a number of tokens, because powers may differ in the last bit between machines. */
const rounded = (tokens: number): number => Math.round(tokens * 64) / 64;

/** Approximate number of groups that represent the sequences of a replica. */
const usualGroups = 32;
const mostGroups = 256;
/** Place of the longest response in the order of groups, 0 to 1. It is late, because with preemptions such a replica ends last. */
const longestPosition = 0.9;
const golden = 0.618_033_988_749_895;

/** Returns groups in the order of arrival, with long and short groups mixed evenly. */
function groupsOf({ responseTokens, longestTokens }: RolloutWorkload, requests: number, size: number): Group[] {
  const exponent = Math.max(0, longestTokens / responseTokens - 1);
  const count = Math.max(1, Math.ceil((requests - 1) / size));
  const sequences = Math.max(0, requests - 1) / count;
  const longest: Group = { order: 0, sequences: 1, tokens: longestTokens, done: 0 };
  if (sequences === 0) return [longest];
  const groups: Group[] = [];
  const longestIndex = Math.floor(count * longestPosition);
  for (let index = 0; index < count; index += 1) {
    if (index === longestIndex) groups.push({ ...longest, order: groups.length });
    // Multiples of the golden ratio, less their whole parts, fill the unit interval evenly, whatever their number.
    const survival = ((index + 0.5) * golden) % 1;
    const tokens = exponent === 0 ? longestTokens : longestTokens * (1 - survival ** (1 / exponent));
    groups.push({ order: groups.length, sequences, tokens: Math.max(1, rounded(tokens)), done: 0 });
  }
  return groups;
}

/** A simulated replica that runs its share of the groups. */
class Replica {
  seconds = 0;
  readonly #read: (quantity: 'bytes' | 'decodeStepSeconds' | 'prefillSeconds', batch: number, length: number) => number;
  readonly #memoryBytes: number;
  readonly #promptTokens: number;
  /** The running groups, in the order of arrival. */
  #running: Group[] = [];
  /** Waiting groups; the last one in the list runs next. */
  readonly #waiting: Group[];
  #sequences = 0;
  #context = 0;

  constructor(surface: Surface, groups: readonly Group[], workload: RolloutWorkload, memoryBytes: number) {
    const { promptTokens, routingSkew } = workload;
    this.#read = (quantity, batch, length) => valueAt(surface, quantity, batch, length, routingSkew);
    this.#memoryBytes = memoryBytes;
    this.#promptTokens = promptTokens;
    this.#waiting = [...groups].reverse();
  }

  /** Runs until all groups have ended, and returns the seconds. */
  run(): number {
    this.#admit();
    while (this.#running.length > 0) {
      const next = this.#running.reduce(
        (least, one) => Math.min(least, one.tokens - one.done),
        Number.POSITIVE_INFINITY,
      );
      const steps = this.#stepsThatFit(next);
      if (steps < next && this.#running.length > 1 && steps < 1) {
        this.#preempt();
        continue;
      }
      this.#decode(this.#running.length === 1 ? next : steps);
      if (this.#finish()) this.#admit();
    }
    return this.seconds;
  }

  #fits(sequences: number, context: number): boolean {
    return this.#read('bytes', sequences, context / sequences) <= this.#memoryBytes;
  }

  #admit(): void {
    for (let group = this.#waiting.at(-1); group !== undefined; group = this.#waiting.at(-1)) {
      const { sequences, done } = group;
      const context = sequences * (this.#promptTokens + done + 1);
      if (this.#running.length > 0 && !this.#fits(this.#sequences + sequences, this.#context + context)) return;
      this.#waiting.pop();
      this.#running.push(group);
      this.#sequences += sequences;
      this.#context += context - sequences;
      this.seconds += this.#read('prefillSeconds', sequences, this.#promptTokens + done);
    }
  }

  #leave(group: Group): void {
    this.#sequences -= group.sequences;
    this.#context -= group.sequences * (this.#promptTokens + group.done);
  }

  #preempt(): void {
    let newest = 0;
    for (const [at, one] of this.#running.entries()) if (one.order > this.#running[newest]!.order) newest = at;
    const [group] = this.#running.splice(newest, 1);
    this.#leave(group!);
    this.#waiting.push(group!);
  }

  /** Returns the number of decoding steps until the memory is full, at most `wanted`. */
  #stepsThatFit(wanted: number): number {
    const fits = (steps: number) => this.#fits(this.#sequences, this.#context + this.#sequences * steps);
    if (fits(wanted)) return wanted;
    let low = 0;
    let high = Math.floor(wanted);
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (fits(middle)) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #decode(steps: number): void {
    // The context grows evenly, so the middle step has the mean context.
    const length = this.#context / this.#sequences + steps / 2;
    this.seconds += steps * this.#read('decodeStepSeconds', this.#sequences, length);
    this.#context += this.#sequences * steps;
    for (const group of this.#running) group.done += steps;
  }

  #finish(): boolean {
    const ended = this.#running.filter((one) => one.tokens - one.done < 1e-6);
    for (const group of ended) this.#leave(group);
    if (ended.length > 0) this.#running = this.#running.filter((one) => one.tokens - one.done >= 1e-6);
    return ended.length > 0;
  }
}

/**
 * Predicts the seconds of a rollout, or returns `undefined` if the longest response does not fit the memory.
 *
 * @param surface - the profile of the parallelism
 * @param replicas - number of replicas that share the requests, >= 1
 * @param memoryBytes - bytes of each GPU that engines may use
 */
export function predictSeconds(
  surface: Surface,
  workload: RolloutWorkload,
  replicas: number,
  memoryBytes: number,
): number | undefined {
  const { promptTokens, longestTokens, routingSkew } = workload;
  const length = promptTokens + longestTokens;
  const fits = (batch: number) => valueAt(surface, 'bytes', batch, length, routingSkew) <= memoryBytes;
  if (!fits(1)) return undefined;
  const requests = Math.ceil(workload.responses / replicas);
  // Several groups must fit at once; otherwise their admission and preemption would differ too much from those of single
  // sequences.
  let size = Math.max(1, Math.ceil(requests / usualGroups));
  while (size > 1 && !fits(size * 4)) size = Math.ceil(size / 2);
  // If there are many more requests than fit, only a part is simulated, and the time is scaled up.
  const simulated = Math.min(requests, size * mostGroups);
  const seconds = new Replica(surface, groupsOf(workload, simulated, size), workload, memoryBytes).run();
  return (seconds * requests) / simulated;
}

const profileSchema = z.strictObject({
  rows: z.array(profileRow).min(1).max(20_000),
  gpuMemoryBytes: z.number().positive(),
  memoryUtilization: z.number().positive().max(1).default(0.9),
});
const workloadSchema = rolloutWorkload.extend({ gpus: positiveCount });

/** An offline profile, and the memory that a configuration must fit. */
export interface TpProfile {
  /** Measured rows; the last row of a point counts. */
  readonly rows: readonly ProfileRow[];
  /** Bytes of memory of one GPU, > 0. */
  readonly gpuMemoryBytes: number;
  /** Share of GPU memory that an engine may use, above 0 and at most 1 (default 0.9). */
  readonly memoryUtilization?: number;
}

/** The load of a rollout, and the number of GPUs. */
export interface TpWorkload extends RolloutWorkload {
  /** GPUs of the rollout, over all servers. */
  readonly gpus: number;
}

/** A configuration that was considered. */
export interface TpCandidate extends Parallelism {
  /** Predicted seconds of the rollout; absent if its longest response does not fit the memory. */
  readonly predictedSeconds?: number;
}

/** Result of {@link selectTp}. */
export interface TpSelection extends Parallelism {
  /** Predicted seconds of the rollout. */
  readonly predictedSeconds: number;
  /** Every configuration of the profile that divides the GPUs, by TP, then by EP. */
  readonly candidates: readonly TpCandidate[];
}

/** Orders by TP, then by EP; without EP first. */
export const byDegree = (a: Parallelism, b: Parallelism): number => a.tp - b.tp || (a.ep ?? 0) - (b.ep ?? 0);

/**
 * Returns the best of some configurations: the one with the fewest predicted seconds; ties go to the least TP, then the least EP.
 */
export function best(candidates: readonly TpCandidate[]): (TpCandidate & { predictedSeconds: number }) | undefined {
  let chosen: (TpCandidate & { predictedSeconds: number }) | undefined;
  for (const one of [...candidates].sort(byDegree)) {
    const { predictedSeconds } = one;
    if (predictedSeconds === undefined) continue;
    if (chosen === undefined || predictedSeconds < chosen.predictedSeconds) chosen = { ...one, predictedSeconds };
  }
  return chosen;
}

/**
 * Chooses, among the configurations of a profile that fit the memory, the one with the fewest predicted seconds of rollout.
 *
 * It considers every (TP, EP) of the profile whose TP divides the GPUs. Between the points of the profile, values are interpolated
 * linearly along the sequence length, the batch size and the routing skew. Below the first point, the value of this point holds;
 * beyond the last point, the line through the last two points continues. Ties go to the least TP, then the least EP.
 *
 * @throws PolicyError `invalid_input` for an invalid profile or workload, `infeasible` if no configuration divides the GPUs and
 * fits the memory
 */
export function selectTp(profile: TpProfile, workload: TpWorkload): TpSelection {
  const { rows, gpuMemoryBytes, memoryUtilization } = parse(profileSchema, profile, 'invalid_input', 'profile');
  const { gpus, ...demand } = parse(workloadSchema, workload, 'invalid_input', 'workload');
  if (demand.longestTokens < demand.responseTokens) {
    const expected = `at least responseTokens (${demand.responseTokens})`;
    refuse('invalid_input', 'workload.longestTokens', expected, demand.longestTokens);
  }
  for (const [at, { tp, ep }] of rows.entries()) {
    if (ep === undefined || tp % ep === 0) continue;
    refuse('invalid_input', `profile.rows[${at}].ep`, 'a divisor of tp', ep);
  }
  const memoryBytes = gpuMemoryBytes * memoryUtilization;
  const known = new Map<string, Parallelism>();
  for (const { tp, ep } of rows) if (gpus % tp === 0) known.set(surfaceKey({ tp, ep }), { tp, ep });
  const surfaces = surfacesOf(rows);
  const candidates = [...known]
    .map(([key, { tp, ep }]): TpCandidate => {
      const predictedSeconds = predictSeconds(surfaces.get(key)!, demand, gpus / tp, memoryBytes);
      const one = ep === undefined ? { tp } : { tp, ep };
      return predictedSeconds === undefined ? one : { ...one, predictedSeconds };
    })
    .sort(byDegree);
  const chosen = best(candidates);
  if (chosen === undefined) {
    const expected = `a TP of the profile that divides ${gpus} GPUs and fits ${memoryBytes} bytes each`;
    const got = candidates.length === 0 ? 'none that divides them' : 'none whose longest response fits';
    refuse('infeasible', 'profile.rows', expected, got);
  }
  return { ...chosen, candidates };
}
