/** SHORTITEMREORDER (FlexRL, Algorithm 3, lines 38 to 47). */
import { descending } from '../../instance.ts';
import { bestGroup, type PaperState, put, take } from './state.ts';

/** Takes off the items on one or two devices, then puts each, longest first, on the device with the least compute. */
export function shortItemReorder(state: PaperState): void {
  const { instance, placement, memory } = state;
  const { lengths, work, memoryCap } = instance;
  const compute = new Float64Array(instance.devices);
  /** Adds h² ÷ p, as the text defines the compute of a device; the printed line 44 adds h², whatever the degree. */
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
  // In the printed version, m still counts the items taken off here, so that hardly anything fits afterwards.
  for (const item of short) take(state, item);
  for (const item of short) {
    let level = 0;
    let group = bestGroup(state, 0, lengths[item]!, memoryCap, compute);
    if (group < 0 && instance.levels > 1 && lengths[item]! > 0) {
      // The printed version puts the item whole on a device even if that breaks the memory rule and the item fitted when split in
      // two.
      group = bestGroup(state, 1, lengths[item]! / 2, memoryCap, compute);
      if (group >= 0) level = 1;
    }
    if (group < 0) group = bestGroup(state, 0, 0, Number.POSITIVE_INFINITY, memory);
    put(state, item, level, group);
    count(item);
  }
}
