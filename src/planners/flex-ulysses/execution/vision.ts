/** Chooses the frames that each device encodes (FlexRL §3.3, vision tower). */
import { refuse } from '../../../errors.ts';
import type { SequenceAssignment, VisionShare } from '../../../generated/settings/flex-ulysses.ts';

/** Frames spread over the devices. */
export interface VisionPlan {
  readonly shares: VisionShare[];
  /** Frames that are encoded outside the group of their sequence. */
  readonly moved: number;
}

/** Frames that the devices can still take: at first all have the same number, and some may take one more. */
interface Room {
  readonly plain: Float64Array;
  /** 1 if the device may still take an additional frame, else 0. */
  readonly extra: Uint8Array;
  /** Additional frames that are left for all devices together. */
  extras: number;
}

/** Frames of a sequence that a device takes. */
interface Taken {
  readonly device: number;
  readonly frames: number;
}

/**
 * Gives frames to the devices of a group, as far as these have room: evenly, so that frames are near the shard of their tokens. The
 * equal share of every device ("plain") is used up first, because only this group and the groups around it can use it; the
 * additional frame ("extra") can go to any device.
 */
function takeLocally(room: Room, devices: readonly number[], frames: number): Taken[] {
  const counts = new Float64Array(devices.length);
  let left = frames;
  const give = (at: number, wanted: number): void => {
    const taken = Math.min(wanted, room.plain[devices[at]!]!);
    room.plain[devices[at]!]! -= taken;
    counts[at]! += taken;
    left -= taken;
  };
  for (let at = 0; at < devices.length; at += 1) give(at, Math.ceil(left / (devices.length - at)));
  for (let at = 0; at < devices.length && left > 0; at += 1) give(at, left);
  for (let at = 0; at < devices.length && left > 0 && room.extras > 0; at += 1) {
    if (room.extra[devices[at]!] === 0) continue;
    room.extra[devices[at]!] = 0;
    room.extras -= 1;
    counts[at]! += 1;
    left -= 1;
  }
  return devices.flatMap((device, at) => (counts[at] === 0 ? [] : [{ device, frames: counts[at]! }]));
}

/**
 * Places the leftover frames from the first device to the last. Frames and devices are taken in the same order, so that few frames
 * go far.
 */
function takeElsewhere(room: Room, leftovers: readonly { frames: number; taken: Taken[] }[]): void {
  let device = -1;
  let free = 0;
  for (const { frames, taken } of leftovers) {
    let left = frames;
    while (left > 0) {
      while (free === 0) {
        device += 1;
        const more = room.extras > 0 ? room.extra[device]! : 0;
        room.extras -= more;
        free = room.plain[device]! + more;
      }
      const some = Math.min(left, free);
      taken.push({ device, frames: some });
      free -= some;
      left -= some;
    }
    taken.sort((one, other) => one.device - other.device);
  }
}

/**
 * Spreads frames over devices: the frame counts of devices differ by at most one, and among all such plans this one encodes the
 * fewest frames outside the devices of their sequence. Groups are filled from the smallest to the largest. As groups are nested,
 * this order loses nothing: a larger group can still use its other devices.
 *
 * @param frames - images or frames of each sequence
 * @throws PolicyError `invalid_input` unless `frames` has one number for each sequence
 */
export function spreadFrames(
  assignments: readonly SequenceAssignment[],
  frames: readonly number[],
  devices: number,
): VisionPlan {
  if (frames.length !== assignments.length) {
    refuse('invalid_input', 'frames', `a list of ${assignments.length}, one number for each of lengths`, frames.length);
  }
  const total = frames.reduce((sum, one) => sum + one, 0);
  const room: Room = {
    plain: new Float64Array(devices).fill(Math.floor(total / devices)),
    extra: new Uint8Array(devices).fill(1),
    extras: total % devices,
  };
  const taken = assignments.map((): Taken[] => []);
  const smallestFirst = assignments
    .filter(({ sequence }) => frames[sequence]! > 0)
    .sort((a, b) => a.degree - b.degree || a.devices[0]! - b.devices[0]! || a.sequence - b.sequence);
  const leftovers = smallestFirst.flatMap(({ sequence, devices: group }) => {
    const mine = takeLocally(room, group, frames[sequence]!);
    taken[sequence] = mine;
    const left = mine.reduce((rest, one) => rest - one.frames, frames[sequence]!);
    return left === 0 ? [] : [{ frames: left, first: group[0]!, sequence, taken: mine }];
  });
  leftovers.sort((a, b) => a.first - b.first || a.sequence - b.sequence);
  const moved = leftovers.reduce((sum, one) => sum + one.frames, 0);
  takeElsewhere(room, leftovers);

  const shares = Array.from({ length: devices }, (_, device): VisionShare => ({ device, slices: [], frames: 0 }));
  taken.forEach((mine, sequence) => {
    let from = 0;
    for (const one of mine) {
      const share = shares[one.device]!;
      const to = from + one.frames;
      share.slices.push({ sequence, from, to });
      share.frames += one.frames;
      from = to;
    }
  });
  return { shares, moved };
}
