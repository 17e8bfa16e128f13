/** Baseline: one degree for all sequences, as in Ulysses sequence parallelism. */
import { refuse } from '../../../errors.ts';
import type { FlexUlyssesSettings } from '../../../generated/settings/flex-ulysses.ts';
import type { Instance } from '../instance.ts';
import { emptyPlacement } from '../placement.ts';
import type { Placed } from '../strategy.ts';
import { leastLoaded } from './least-loaded.ts';

/** Returns the level of the requested degree; the last level if no degree is requested. */
function levelFor({ levels }: Instance, degree: number | undefined): number {
  if (degree === undefined) return levels - 1;
  const level = Math.log2(degree);
  if (Number.isInteger(level) && level < levels) return level;
  const expected = `one of ${Array.from({ length: levels }, (_, one) => 2 ** one).join(', ')}`;
  refuse('invalid_input', 'ulyssesDegree', expected, degree);
}

/**
 * Places each sequence, most work first, on the group of the requested degree with the least work so far; ties go to the lowest
 * group.
 *
 * @throws PolicyError `invalid_input` for a degree that is not admissible
 */
export function placeByUlysses(instance: Instance, settings: FlexUlyssesSettings): Placed {
  const level = levelFor(instance, settings.ulyssesDegree);
  const placement = emptyPlacement(instance.sequences);
  const groups = leastLoaded(instance.byWork, instance.work, instance.devices / 2 ** level);
  for (const [i, group] of groups.entries()) {
    placement.level[i] = instance.lengths[i] === 0 ? 0 : level;
    placement.group[i] = placement.level[i] === level ? group : group * 2 ** level;
  }
  return { placement };
}
