/** Turns a placement into an execution: packs, their order, a schedule, and frames for the vision tower. */

import type {
  FlexUlyssesPlan,
  FlexUlyssesSettings,
  SequenceAssignment,
} from '../../../generated/settings/flex-ulysses.ts';
import type { Instance, Placement } from '../instance.ts';
import { orderOf, packSizesOf, packsOf } from './packs.ts';
import { scheduleOf } from './schedule.ts';
import { durationsOf } from './times.ts';
import { coefficientsOf } from './timing.ts';
import { spreadFrames } from './vision.ts';

/** The part of a plan that describes its execution. */
export type Execution = Pick<FlexUlyssesPlan, 'packs' | 'order' | 'schedule' | 'vision'> & {
  readonly movedFrames: Pick<FlexUlyssesPlan['metrics'], 'movedFrames'>;
};

/**
 * Returns the execution of a placement.
 *
 * @throws PolicyError `invalid_input` for a pack cap below the threshold, and if `frames` is not a list of one number for each
 * sequence
 */
export function executionOf(
  instance: Instance,
  placement: Placement,
  assignments: readonly SequenceAssignment[],
  settings: FlexUlyssesSettings,
): Execution {
  const packs = packsOf(instance, placement, packSizesOf(instance, settings));
  const order = orderOf(packs, instance.devices);
  const timing = coefficientsOf(settings.costs.timing);
  const durations = durationsOf(packs, instance.lengths, timing, settings.devicesPerNode);
  const schedule = scheduleOf({ packs, order }, durations);
  if (settings.frames === undefined) return { packs, order, schedule, movedFrames: {} };
  const { shares, moved } = spreadFrames(assignments, settings.frames, instance.devices);
  return { packs, order, schedule, vision: shares, movedFrames: { movedFrames: moved } };
}
