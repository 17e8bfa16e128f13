/** The default strategy: it looks for the least communication at the best balance, or within a tolerance of the best balance. */
import { refuse } from '../../../errors.ts';
import type { FlexUlyssesSettings } from '../../../generated/settings/flex-ulysses.ts';
import type { Instance } from '../instance.ts';
import { emptyPlacement } from '../placement.ts';
import type { Placed } from '../strategy.ts';
import { isAlike } from './alike.ts';
import { Search } from './attempts.ts';
import { type Balance, bestBalance, computeLimit } from './balance.ts';
import { Budget } from './budget.ts';
import { affordable, effortFor, stepsFor } from './effort.ts';
import type { LayoutCopy } from './layout.ts';
import { type Problem, problemOf, slop } from './problem.ts';
import { Sequence } from './random.ts';
import { startsFor } from './starts.ts';

/** With more sequences × devices than this, one look at each pair would take a second. */
const mostPairs = 2 ** 26;
/** With so few items, all placements are tried. */
const fewest = 12;

function searched(problem: Problem, flat: Int32Array, settings: FlexUlyssesSettings): LayoutCopy {
  const effort = effortFor(settings.effort, problem);
  const search = new Search(problem, flat, effort);
  const random = new Sequence(1);
  if (settings.previous !== undefined && search.fromPrevious(settings.previous, random)) return search.best;
  if (isAlike(problem) && problem.items > fewest) {
    search.alike(random);
    return search.best;
  }
  const ways: (() => void)[] = [() => search.prefixes(random)];
  for (const start of startsFor(problem, settings.effort).slice(0, effort.starts))
    ways.push(() => search.start(start, random));
  if (problem.items > fewest) ways.push(() => search.completions(new Sequence(2)));
  ways.push(() => search.polishBest(random));
  if (problem.items <= fewest) ways.push(() => search.enumerate());
  for (const way of ways) if (!search.done && !problem.budget.isSpent) way();
  return search.best;
}

/** Searches with the effort that the steps suffice for; more effort keeps what less effort finds, where that is cheaper. */
function bestOf(problem: Problem, { group }: Balance, asked: FlexUlyssesSettings): LayoutCopy {
  const effort = affordable(asked);
  const flat = Int32Array.from(problem.sequence, (i) => group[i]!);
  const first = searched(problem, flat, { ...asked, effort: effort === 'thorough' ? 'default' : effort });
  if (effort !== 'thorough' || first.cost <= problem.bound * (1 + slop) + slop) return first;
  const second = searched(problem, flat, { ...asked, effort });
  return second.cost < first.cost ? second : first;
}

/** Places a batch with as little communication as the search finds within the limits. */
export function placeBySearch(instance: Instance, settings: FlexUlyssesSettings, isLate?: () => boolean): Placed {
  const pairs = instance.sequences * instance.devices;
  if (pairs > mostPairs) refuse('limit_exceeded', 'lengths', `at most ${mostPairs} lengths × devices to search`, pairs);
  const placement = emptyPlacement(instance.sequences);
  const steps = stepsFor(settings);
  const evening = new Budget(steps / 2, isLate);
  const balance = bestBalance(instance, evening);
  const { memoryCap } = balance;
  const limit = computeLimit(balance, settings.balanceTolerance);
  const budget = new Budget(steps / 2 + Math.max(0, evening.left), isLate);
  const problem = problemOf(instance, limit, memoryCap, budget);
  if (problem.items > 0) {
    const { level, group } = bestOf(problem, balance, settings);
    problem.sequence.forEach((i, item) => {
      placement.level[i] = level[item]!;
      placement.group[i] = group[item]!;
    });
  }
  const cut = { balance: evening.cut, communication: budget.cut };
  const taken = steps - Math.max(0, budget.left);
  return { placement, computeLimit: limit, memoryCap, computeBound: balance.bound, cut, steps: taken };
}
