/** Options that say how much a search of settings looks at. */
import { Option } from 'commander';

/** Returns the option for an effort by name; without it, a search has a budget of work. */
export const effortOption = (): Option =>
  new Option('--effort <how>', 'how much is tried, all of it (what a budget of work allows)').choices([
    'fast',
    'default',
    'thorough',
  ]);

/** Returns the option for the largest effort. */
export const thoroughOption = (): Option =>
  new Option('--thorough', 'look at all that --effort thorough does: several times the work').conflicts('effort');
