/**
 * Schedulers × seeds of any kind of job. The runs of a seed are adjacent, so that only one seed's workload is kept in memory, and only
 * the lengths of the others.
 */
import { refuse } from '../../errors.ts';
import type { FixedPrompt } from '../bounds/lower-bound.ts';
import type { Workload } from '../workload/workload.ts';
import { fixedPrompts, longestOf } from './kept-shares.ts';

/** What one seed draws, for every scheduler. */
export interface Drawn {
  readonly seed: number;
  readonly workload: Workload;
  /** The responses that a baseline trains on. */
  readonly fixed: readonly FixedPrompt[];
  /** Least tokens of a long response. */
  readonly longTokens: number;
}

/** Who runs on a seed: a scheduler, and the prompts as it takes them. */
export interface Entrant<S> {
  readonly scheduler: S;
  readonly workload: Workload;
  /** Whether its timelines are kept, where others are (default true). */
  readonly timeline?: boolean;
}

/** What a kind of job says of itself, so that its schedulers can be compared. */
export interface World<S, R, C> {
  /** Ids of the schedulers, the baseline first. */
  readonly ids: readonly string[];
  readonly seeds: readonly number[];
  readonly workload: (seed: number) => Workload;
  /** Prompts that the baseline trains on, and the responses of each. */
  readonly prompts: number;
  readonly responsesPerPrompt: number;
  /** Whether the runs of the first seed keep their timelines (default true). */
  readonly timeline?: boolean | undefined;
  /** Called for every run; must return the result of `simulate`. */
  readonly run?: ((scheduler: S, seed: number, simulate: () => R) => R) | undefined;
  /** Returns who runs on a seed under an id, by its index. */
  entrant(index: number, drawn: Drawn): Entrant<S>;
  simulate(entrant: Required<Entrant<S>>, drawn: Drawn): R;
  /**
   * Compares runs.
   *
   * @param runs - of each id, those of all seeds in their order
   * @param lengthsOf - returns the lengths of a seed's responses that a baseline trains on
   */
  compared(
    runs: readonly (readonly R[])[],
    seeds: readonly number[],
    lengthsOf: (seed: number) => readonly number[],
  ): C;
}

/** The runs of a comparison. Each can be made alone, even in another process with the same options. */
export interface PreparedRuns<R, C> {
  /** Number of runs: schedulers × seeds. */
  readonly totalRuns: number;
  /** Makes a run by its index. The runs of a seed are adjacent; those of the first seed come first. */
  make(runIndex: number): R;
  /** Compares all runs, which must be in index order. */
  compared(runs: readonly R[]): C;
  /** Compares the runs of those seeds that have all of theirs, given by their index; `undefined` if no seed has. */
  comparedSoFar(runs: ReadonlyMap<number, R>): C | undefined;
}

/** Prepares the runs of a comparison. Throws `PolicyError` `invalid_input` for seeds and ids that are not distinct. */
export function preparedRuns<S, R, C>(world: World<S, R, C>): PreparedRuns<R, C> {
  const { ids, seeds, timeline: hasTimeline = true } = world;
  if (seeds.length === 0) refuse('invalid_input', 'seeds', 'at least one seed', seeds);
  for (const seed of seeds) if (!Number.isSafeInteger(seed)) refuse('invalid_input', 'seeds', 'whole numbers', seed);
  if (new Set(seeds).size < seeds.length) refuse('invalid_input', 'seeds', 'seeds that differ', seeds);
  if (ids.length === 0 || new Set(ids).size < ids.length) refuse('invalid_input', 'schedulers', 'ids that differ', ids);
  const perSeed = ids.length;
  const known = new Map<number, readonly number[]>();
  let latest: Drawn | undefined;
  const draw = (seed: number): Drawn => {
    if (latest?.seed === seed) return latest;
    const workload = world.workload(seed);
    const fixed = fixedPrompts(workload, world.prompts, world.responsesPerPrompt);
    known.set(
      seed,
      fixed.flatMap(({ responseTokens }) => responseTokens),
    );
    latest = { seed, workload, fixed, longTokens: longestOf(fixed) };
    return latest;
  };
  const lengthsOf = (seed: number): readonly number[] => {
    if (!known.has(seed)) draw(seed);
    return known.get(seed)!;
  };
  const compared = (runs: readonly R[], on: readonly number[]): C =>
    world.compared(
      ids.map((_, index) => runs.filter((_run, runIndex) => runIndex % perSeed === index)),
      on,
      lengthsOf,
    );
  return {
    totalRuns: seeds.length * perSeed,
    make: (runIndex) => {
      const drawn = draw(seeds[Math.floor(runIndex / perSeed)]!);
      const { timeline = true, ...entrant } = world.entrant(runIndex % perSeed, drawn);
      const simulated = (): R =>
        world.simulate({ ...entrant, timeline: timeline && hasTimeline && runIndex < perSeed }, drawn);
      return world.run === undefined ? simulated() : world.run(entrant.scheduler, drawn.seed, simulated);
    },
    compared: (runs) => compared(runs, seeds),
    comparedSoFar: (runs) => {
      const ofSeedAt = (index: number): R[] =>
        Array.from({ length: perSeed }, (_, one) => runs.get(index * perSeed + one)).filter((one) => one !== undefined);
      const whole = [...seeds.keys()].filter((index) => ofSeedAt(index).length === perSeed);
      if (whole.length === 0) return undefined;
      return compared(
        whole.flatMap(ofSeedAt),
        whole.map((index) => seeds[index]!),
      );
    },
  };
}

/** Makes all runs of a comparison, and compares them. */
export const comparedAll = <R, C>({ totalRuns, make, compared }: PreparedRuns<R, C>): C =>
  compared(Array.from({ length: totalRuns }, (_, index) => make(index)));
