/**
 * The search within a budget of work: a coarse grid over the whole plane of factors, and each other setting alone, on one seed;
 * then round by round fewer candidates on one more seed each (successive halving). Single runs are noisy, so what goes on is chosen
 * by estimates to which all runs contribute (`estimates.ts`), and combinations and neighbours of the best come in.
 */
import type { Book, Candidate } from '../book.ts';
import { keepsLimits, keptSlack } from '../limits.ts';
import type { SweepLimits } from '../result.ts';
import type { SweepRun } from '../run.ts';
import type { SweepSettings } from '../settings/settings.ts';
import { changed, type SweepSpace } from '../space.ts';
import type { SweepBatch } from './batch.ts';
import { estimator } from './estimates.ts';
import type { Measuring } from './measuring.ts';
import { besideOne, diagonals, product } from './neighbours.ts';

/** Options of a search within a budget. */
export interface HalvingOptions {
  readonly space: SweepSpace;
  readonly book: Book;
  readonly limits: SweepLimits;
  readonly always: readonly Candidate[];
  readonly published: Candidate;
  /** One for each round. */
  readonly seeds: readonly number[];
  readonly steps: number;
  /** Responses, about, that may be simulated before the end of the coarse grid, and before the end of the search. */
  readonly limit: { readonly coarse: number; readonly search: number };
}

/** A candidate with its estimates. */
export interface Ranked {
  readonly one: Candidate;
  /** Logarithm of its time per prompt, up to a constant. */
  readonly seconds: number;
  /** Logarithm of its kept tokens ÷ the least that is asked for; below 0 where the runs do not show that it breaks the limit. */
  readonly spare: number;
}

/** Candidates of the first round after the grid, the share of them in the next one, and so on, and the least number. */
const firstRound = 12;
const nextShare = 0.7;
const leastInRound = 4;
/** Factors of the grid, of which it has every second pair, and a little of each factor alone. */
const gridFactors = [1, 1.25, 1.5, 1.75, 2];
const littleFactor = 1.125;
/** Number of best pairs of factors that are combined with other settings, and of best candidates whose neighbours are tried. */
const combined = 3;
const refined = 2;
/** Kept tokens of the safer candidate, over the least that are asked for. */
const safely = 0.015;

/** Searches, and returns the tried candidates that may be within the limits, those that seem fastest first. */
export function* halving(
  measuring: Measuring,
  options: HalvingOptions,
): Generator<SweepBatch, readonly Ranked[], readonly SweepRun[]> {
  const { space, book, seeds, steps, limit, always } = options;
  const grid = gridOf(space).map((one) => book.candidate(one));
  const alone = space.axes
    .filter(({ crossed }) => !crossed)
    .flatMap(({ name, coarse }) => coarse.map((value) => book.candidate(changed(space.published, name, value))));
  const common = { always, steps };
  yield* measuring.measure({
    ...common,
    phase: 'coarse',
    candidates: [...alone, ...grid],
    seeds: seeds.slice(0, 1),
    limit: limit.coarse,
  });
  let size = firstRound;
  for (const seed of seeds.slice(1)) {
    const before = measuring.responses;
    const best = rankedOf(options, proposals(options, grid), 1).slice(0, size);
    yield* measuring.measure({
      ...common,
      phase: size > leastInRound ? 'fine' : 'finals',
      candidates: best.map(({ one }) => one),
      seeds: [seed],
      limit: limit.search,
    });
    const isLast = measuring.responses + (measuring.responses - before) * nextShare > limit.search;
    if (isLast) break;
    size = Math.max(leastInRound, Math.ceil(size * nextShare));
  }
  return rankedOf(options, triedOf(options), 0);
}

/**
 * Returns candidates for the confirmation: the one that seems fastest, if it seems faster than the reference, and the next one, or
 * the fastest of those that keep tokens to spare if the first has none.
 */
export function contendersOf(ranked: readonly Ranked[], reference: Candidate): Candidate[] {
  const at = ranked.findIndex(({ one }) => one === reference);
  const [first, ...others] = at < 0 ? ranked : ranked.slice(0, at);
  if (first === undefined) return [];
  const safer = first.spare < safely ? others.find(({ spare }) => spare >= safely) : undefined;
  const second = safer ?? others[0];
  return second === undefined ? [first.one] : [first.one, second.one];
}

const triedOf = ({ book, seeds }: HalvingOptions): Candidate[] =>
  book.all.filter(({ runs }) => seeds.some((seed) => runs.has(seed)));

/** Returns the tried candidates, and combinations and neighbours of the best. */
function proposals(options: HalvingOptions, grid: readonly Candidate[]): Candidate[] {
  const { space, book } = options;
  const crossed = space.axes.filter((axis) => axis.crossed);
  const others = space.axes
    .filter((axis) => !axis.crossed)
    .map(({ name, coarse }) => {
      const fits = (value: number | string): boolean =>
        book.candidate(changed(space.published, name, value)).infeasible === undefined;
      return [name, coarse.filter(fits)] as const;
    });
  const factors = rankedOf(options, grid, 1).slice(0, combined);
  const products = factors.flatMap(({ one }) => product(one.settings as SweepSettings, others));
  const tried = triedOf(options);
  const around = rankedOf(options, tried, 1)
    .slice(0, refined)
    .flatMap(({ one: { settings } }) => [
      ...besideOne(settings as SweepSettings, space.axes),
      ...diagonals(settings as SweepSettings, crossed),
    ]);
  return [...new Set([...tried, ...[...products, ...around].map((one) => book.candidate(one))])];
}

/**
 * Returns the candidates that may be within the limits, as far as the runs show, those that seem fastest first.
 *
 * @param hope - number of standard deviations by which a candidate is taken to be faster than it seems, so that those of which
 * little is known get more runs
 */
function rankedOf(
  { book, space, limits, published, seeds }: HalvingOptions,
  among: readonly Candidate[],
  hope: number,
): Ranked[] {
  const estimate = estimator(book, space, seeds);
  const { baseline } = book;
  const base = estimate(baseline).kept.value;
  const least =
    limits.minKept === undefined
      ? Math.min(0, published.infeasible === undefined ? estimate(published).kept.value - base : 0) - keptSlack.search
      : Math.log(limits.minKept);
  return among
    .filter((one) => one.infeasible === undefined)
    .filter((one) => {
      const pairs = book.pairs(one, baseline, seeds);
      return pairs.length === 0 || keepsLimits(pairs, limits);
    })
    .map((one) => ({ one, ...estimate(one) }))
    .filter(({ kept }) => kept.value + kept.error - base >= least)
    .map(({ one, seconds, kept }) => ({
      one,
      seconds: seconds.value - hope * seconds.error,
      spare: kept.value - base - least,
    }))
    .sort((a, b) => a.seconds - b.seconds);
}

/** Returns every second point of a grid over the factors, and a little of each factor alone. */
function gridOf({ published, axes }: SweepSpace): SweepSettings[] {
  const crossed = axes.filter((axis) => axis.crossed);
  const point = (values: readonly (number | undefined)[]): SweepSettings =>
    crossed.reduce<SweepSettings>((one, { name }, at) => changed(one, name, values[at] ?? 1), published);
  const pairs = gridFactors.flatMap((one, row) =>
    gridFactors
      .filter((_, column) => (crossed.length < 2 ? column === 0 : (row + column) % 2 === 0))
      .map((other) => [one, other]),
  );
  const points = [...pairs, [littleFactor, 1], [1, littleFactor]];
  return [published, ...spreadOut(points).map(point)];
}

/** Returns points in an order in which each is as far as possible from those before it: the first ones fill the space, too. */
function spreadOut<P extends readonly number[]>(points: readonly P[]): P[] {
  const squared = (one: P, other: P): number => one.reduce((sum, x, at) => sum + (x - other[at]!) ** 2, 0);
  const [last] = points.slice(-1);
  if (last === undefined) return [];
  const found = [last];
  while (found.length < points.length) {
    const away = points
      .filter((one) => !found.includes(one))
      .map((one) => ({ one, least: Math.min(...found.map((other) => squared(one, other))) }));
    found.push(away.sort((a, b) => b.least - a.least)[0]!.one);
  }
  return found;
}
