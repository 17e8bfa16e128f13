/** The sequences that run together, and their order (FlexRL §3.3, §3.4). */
import { refuse } from '../../../errors.ts';
import type { FlexUlyssesSettings, SequencePack } from '../../../generated/settings/flex-ulysses.ts';
import { type Instance, type Placement, topDegree } from '../instance.ts';

/** Limits on the size of packs. */
export interface PackSizes {
  /** Length above which a sequence gets a pack of its own, in tokens. */
  readonly thresholdTokens: number;
  /** Most tokens in a pack of several sequences. */
  readonly capTokens: number;
}

/** Packs of a top group if everything is sharded: with four, three can hide the all-to-all of another one. */
const packsOfATopGroup = 4;

/**
 * Returns the sizes of an input. Absent sizes follow from the batch, so that they are the same on every rank: the cap is a quarter
 * of the tokens that a top group has on average, the threshold is the cap.
 *
 * @throws PolicyError `invalid_input` for a cap below the threshold
 */
export function packSizesOf(instance: Instance, settings: FlexUlyssesSettings): PackSizes {
  const { packThresholdTokens: threshold, packCapTokens: cap } = settings;
  if (threshold !== undefined && cap !== undefined && cap < threshold) {
    refuse('invalid_input', 'packCapTokens', `a whole number >= ${threshold}, the packThresholdTokens`, cap);
  }
  const tokens = instance.lengths.reduce((sum, length) => sum + length, 0);
  const share = Math.ceil((tokens * topDegree(instance)) / (packsOfATopGroup * instance.devices));
  const capTokens = cap ?? Math.max(share, threshold ?? 0);
  return { thresholdTokens: threshold ?? capTokens, capTokens };
}

/** Numbers the groups, highest degree first, and returns the number of the group of each sequence. */
function groupNumbers({ devices, levels }: Instance, { level, group }: Placement): Float64Array {
  const before = new Float64Array(levels);
  for (let one = levels - 2; one >= 0; one -= 1) before[one] = before[one + 1]! + devices / 2 ** (one + 1);
  return Float64Array.from(group, (number, i) => before[level[i]!]! + number);
}

/** Returns the order of execution: by group, then longest first; ties by index. */
function executionOrder({ lengths }: Instance, groups: Float64Array): Uint32Array {
  const beyondAnyLength = 2 ** 30;
  const keys = groups.map((group, i) => (group + 1) * beyondAnyLength - lengths[i]!);
  return Uint32Array.from(keys.keys()).sort((a, b) => keys[a]! - keys[b]! || a - b);
}

/** Returns the packs of a placement, in the order that all devices follow: by (−degree, group, index). */
export function packsOf(instance: Instance, placement: Placement, sizes: PackSizes): SequencePack[] {
  const packs: SequencePack[] = [];
  const groups = groupNumbers(instance, placement);
  let open: SequencePack | undefined;
  let group = -1;
  for (const i of executionOrder(instance, groups)) {
    const degree = 2 ** placement.level[i]!;
    const first = placement.group[i]! * degree;
    const tokens = instance.lengths[i]!;
    const alone = tokens > sizes.thresholdTokens;
    if (alone || groups[i] !== group || open === undefined || open.tokens + tokens > sizes.capTokens) {
      const devices = Array.from({ length: degree }, (_, rank) => first + rank);
      const pack = { degree, devices, sequences: [], tokens: 0, paddedTokens: 0, work: 0 };
      packs.push(pack);
      open = alone ? undefined : pack;
    }
    group = groups[i]!;
    const pack = packs.at(-1)!;
    pack.sequences.push(i);
    pack.tokens += tokens;
    pack.work += instance.work[i]!;
  }
  for (const pack of packs) pack.paddedTokens = Math.ceil(pack.tokens / pack.degree) * pack.degree;
  return packs;
}

/** Returns the indices of the packs of each device: sharded packs first, in descending degree, then the others. */
export function orderOf(packs: readonly SequencePack[], devices: number): number[][] {
  const order = Array.from({ length: devices }, (): number[] => []);
  packs.forEach((pack, index) => {
    for (const device of pack.devices) order[device]!.push(index);
  });
  return order;
}
