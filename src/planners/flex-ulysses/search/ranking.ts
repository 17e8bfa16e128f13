/** Ranks fills: how full groups of spread items may become. */
import { construct } from './construct.ts';
import type { Layout } from './layout.ts';

/** Fills of a group of spread items, in the order of trying. */
const fills = [0, 0.6, 1, 0.8, 0.4, 0.9, 0.7, 0.5, 0.3, 0.2] as const;

/** The fills for a number of spread items, sorted by excess, least first. */
export interface Ranking {
  readonly spread: number;
  readonly fills: readonly { readonly fill: number; readonly over: number }[];
  /** Cost of spreading the items of a prefix. */
  readonly cost: number;
}

/**
 * Tries all fills for a number of spread items.
 *
 * @param found - called after each fill, with its placement in `layout`; returns true to stop
 */
export function rank(layout: Layout, spread: number, found: () => boolean): Ranking {
  const ranked: { fill: number; over: number }[] = [];
  for (const fill of fills) {
    if (ranked.length > 0 && layout.problem.budget.isSpent) break;
    construct(layout, spread, fill);
    ranked.push({ fill, over: layout.over() });
    if (found()) break;
  }
  return { spread, fills: ranked.sort((a, b) => a.over - b.over), cost: layout.cost };
}
