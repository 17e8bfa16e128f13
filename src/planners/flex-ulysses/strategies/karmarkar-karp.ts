/** Baseline: whole sequences, balanced as verl balances its data-parallel ranks. */
import { karmarkarKarp } from '../../../core/numeric/karmarkar-karp.ts';
import type { FlexUlyssesSettings } from '../../../generated/settings/flex-ulysses.ts';
import { baselineWorkOf } from '../costs.ts';
import type { Instance } from '../instance.ts';
import { emptyPlacement } from '../placement.ts';
import type { Placed } from '../strategy.ts';

/**
 * Places by Karmarkar-Karp over `costs.workload`. As in verl, all devices get equal numbers of sequences if the number of devices
 * divides the number of sequences; otherwise the numbers may differ. Part j of the partition goes to device j; memory limits are
 * ignored.
 */
export function placeByKarmarkarKarp(instance: Instance, { lengths, devices, costs }: FlexUlyssesSettings): Placed {
  const workloads = Array.from(baselineWorkOf(lengths, costs));
  const equalSize = lengths.length % devices === 0;
  const placement = emptyPlacement(instance.sequences);
  for (const [device, items] of karmarkarKarp(workloads, devices, { equalSize }).entries()) {
    for (const item of items) placement.group[item] = device;
  }
  return { placement };
}
