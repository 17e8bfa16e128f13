/** The variables of Algorithms 2 and 3 in FlexRL while a batch is placed: 𝒴, s and m. */
import type { Instance, Placement } from '../../instance.ts';
import { emptyPlacement } from '../../placement.ts';

/** Degree and group of each item, tokens of each device. */
export interface PaperState {
  readonly instance: Instance;
  readonly placement: Placement;
  /** m: tokens of each device. The paper's a, the available memory, is the limit minus m. */
  readonly memory: Float64Array;
}

/** Returns a state in which no item is placed. */
export const newState = (instance: Instance): PaperState => ({
  instance,
  placement: emptyPlacement(instance.sequences),
  memory: new Float64Array(instance.devices),
});

function addTokens({ instance, placement, memory }: PaperState, item: number, sign: 1 | -1): void {
  const degree = 2 ** placement.level[item]!;
  const first = placement.group[item]! * degree;
  const tokens = instance.lengths[item]! / degree;
  for (let device = first; device < first + degree; device += 1) memory[device]! += sign * tokens;
}

/** Puts an item that has no group yet on a group. */
export function put(state: PaperState, item: number, level: number, group: number): void {
  state.placement.level[item] = level;
  state.placement.group[item] = group;
  addTokens(state, item, 1);
}

/** Takes an item off its group. */
export const take = (state: PaperState, item: number): void => addTokens(state, item, -1);

/**
 * Returns the group of a level with the least load, among groups in which a share of the item fits on every device; ties go to
 * the lowest group; −1 if there is no such group.
 *
 * @param share - tokens for each device
 * @param limit - most tokens of a device
 * @param loads - load of each device; the load of a group is their sum
 */
export function bestGroup(
  { instance, memory }: PaperState,
  level: number,
  share: number,
  limit: number,
  loads: Float64Array,
): number {
  const degree = 2 ** level;
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  for (let group = 0; group * degree < instance.devices; group += 1) {
    let load = 0;
    let fits = true;
    for (let device = group * degree; fits && device < (group + 1) * degree; device += 1) {
      fits = memory[device]! + share <= limit;
      load += loads[device]!;
    }
    if (!fits || load >= least) continue;
    best = group;
    least = load;
  }
  return best;
}
