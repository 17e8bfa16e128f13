/** Baseline: whole sequences, longest first. */

import type { FlexUlyssesSettings } from '../../../generated/settings/flex-ulysses.ts';
import { baselineWorkOf } from '../costs.ts';
import type { Instance } from '../instance.ts';
import { descending } from '../instance.ts';
import type { Placed } from '../strategy.ts';
import { leastLoaded } from './least-loaded.ts';

/**
 * Places each whole sequence, longest first, on the device with least workload so far; ties go to the lower index and to the lowest
 * device. The workload is `costs.workload`; memory limits are ignored.
 */
export function placeByBucketing(instance: Instance, { lengths, costs }: FlexUlyssesSettings): Placed {
  const group = leastLoaded(descending(instance.lengths), baselineWorkOf(lengths, costs), instance.devices);
  return { placement: { level: new Uint8Array(instance.sequences), group } };
}
