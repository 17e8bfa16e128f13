/** SHORTITEMREORDER (FlexRL, Algorithm 3, lines 38 to 47). */
import { descending } from '../../instance.ts';
import { bestGroup, type PaperState, put, take } from './state.ts';

/** Takes off the items on one or two devices, then puts each on one device: longest first, least compute first. */
export function shortItemReorder(state: PaperState): void {
  const { instance, placement, memory } = state;
  const { lengths, work, memoryCap } = instance;
  const compute = new Float64Array(instance.devices);
  /** Adds h² ÷ p, as the text defines a device's compute; the printed line 44 sums h² whatever the degree. */
  const count = (item: number): void => {
    const degree = 2 ** placement.level[item]!;
    const first = placement.group[item]! * degree;
    for (let device = first; device < first + degree; device += 1) compute[device]! += work[item]! / degree;
  };
  const short: number[] = [];
  for (const item of descending(lengths)) {
    if (placement.level[item]! > 1) count(item);
    else short.push(item);
  }
  // Printed, m keeps what is taken off here, so that hardly anything fits afterwards.
  for (const item of short) take(state, item);
  for (const item of short) {
    let level = 0;
    let group = bestGroup(state, 0, lengths[item]!, memoryCap, compute);
    if (group < 0 && instance.levels > 1 && lengths[item]! > 0) {
      // Printed, the item goes whole where it breaks the memory rule, also if it was split in two before and fitted.
      group = bestGroup(state, 1, lengths[item]! / 2, memoryCap, compute);
      if (group >= 0) level = 1;
    }
    if (group < 0) group = bestGroup(state, 0, 0, Number.POSITIVE_INFINITY, memory);
    put(state, item, level, group);
    count(item);
  }
}
