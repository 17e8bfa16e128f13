/** Which device encodes which frames (FlexRL §3.3, vision tower). */
import { PolicyError } from '../../../errors.ts';
import type { SequenceAssignment } from '../plan-schema.ts';
import type { VisionShare } from './schema.ts';

/** Frames spread over the devices. */
export interface VisionPlan {
  readonly shares: VisionShare[];
  /** Frames that are encoded by a device that has no part of their sequence. */
  readonly moved: number;
}

/** What the devices still take: all the same number, and some of them one more. */
interface Room {
  readonly plain: Float64Array;
  /** 1 where the device may still take the one more. */
  readonly extra: Uint8Array;
  /** How many devices still may. */
  extras: number;
}

/** Told how many frames of a sequence a device takes. */
type Take = (device: number, frames: number) => void;

/**
 * Gives frames to the devices of a group, as far as these have room, and returns those that are left. Evenly, so that
 * frames are near the shard that their tokens are in. What every device takes anyway goes first: it is of use to this
 * group and those around it only, the one more to any device.
 */
function takeLocally(room: Room, devices: readonly number[], frames: number, take: Take): number {
  let left = frames;
  const give = (device: number, wanted: number): void => {
    const taken = Math.min(wanted, room.plain[device]!);
    room.plain[device]! -= taken;
    left -= taken;
    if (taken > 0) take(device, taken);
  };
  devices.forEach((device, at) => {
    give(device, Math.ceil(left / (devices.length - at)));
  });
  for (const device of devices) give(device, left);
  for (const device of devices) {
    if (left === 0 || room.extras === 0) break;
    if (room.extra[device] === 0) continue;
    room.extra[device] = 0;
    room.extras -= 1;
    left -= 1;
    take(device, 1);
  }
  return left;
}

/** What is left, from the first device to the last: sequences and room in one direction, so that little goes far. */
function takeElsewhere(room: Room, leftovers: readonly { frames: number; take: Take }[]): void {
  let device = -1;
  let free = 0;
  for (const { frames, take } of leftovers) {
    let left = frames;
    while (left > 0) {
      while (free === 0) {
        device += 1;
        const more = room.extras > 0 ? room.extra[device]! : 0;
        room.extras -= more;
        free = room.plain[device]! + more;
      }
      const taken = Math.min(left, free);
      take(device, taken);
      free -= taken;
      left -= taken;
    }
  }
}

/** Frames by device, in one run from the first frame of the sequence to the last. */
function cut(shares: readonly VisionShare[], sequence: number, counts: ReadonlyMap<number, number>): void {
  let from = 0;
  for (const device of [...counts.keys()].sort((a, b) => a - b)) {
    const to = from + counts.get(device)!;
    shares[device]!.slices.push({ sequence, from, to });
    shares[device]!.frames += to - from;
    from = to;
  }
}

/**
 * Spreads frames over devices: no device has two more than another, and of all such plans as few as possible are
 * encoded away from the devices of their sequence. Groups are filled from the smallest to the largest; as they are
 * nested, what a group takes takes nothing from another that could not have been given to this one.
 *
 * @param frames - images or frames of each sequence
 * @throws PolicyError `invalid_input` unless there is one number for each sequence
 */
export function spreadFrames(
  assignments: readonly SequenceAssignment[],
  frames: readonly number[],
  devices: number,
): VisionPlan {
  if (frames.length !== assignments.length) {
    const expected = `a list of ${assignments.length}, one number for each of lengths`;
    throw new PolicyError('invalid_input', { expected, got: frames.length, path: 'frames' });
  }
  const total = frames.reduce((sum, one) => sum + one, 0);
  const room: Room = {
    plain: new Float64Array(devices).fill(Math.floor(total / devices)),
    extra: new Uint8Array(devices).fill(1),
    extras: total % devices,
  };
  const counts = assignments.map(() => new Map<number, number>());
  const takeFor = (sequence: number): Take => {
    const mine = counts[sequence]!;
    return (device, taken) => mine.set(device, (mine.get(device) ?? 0) + taken);
  };
  const smallestFirst = assignments
    .filter(({ sequence }) => frames[sequence]! > 0)
    .sort((a, b) => a.degree - b.degree || a.devices[0]! - b.devices[0]! || a.sequence - b.sequence);
  const leftovers = smallestFirst.flatMap(({ sequence, devices: group }) => {
    const left = takeLocally(room, group, frames[sequence]!, takeFor(sequence));
    return left === 0 ? [] : [{ frames: left, first: group[0]!, sequence, take: takeFor(sequence) }];
  });
  leftovers.sort((a, b) => a.first - b.first || a.sequence - b.sequence);
  takeElsewhere(room, leftovers);

  const shares = Array.from({ length: devices }, (_, device): VisionShare => ({ device, slices: [], frames: 0 }));
  counts.forEach((mine, sequence) => {
    cut(shares, sequence, mine);
  });
  return { shares, moved: leftovers.reduce((sum, one) => sum + one.frames, 0) };
}
