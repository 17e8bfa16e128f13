/**
 * The collective calls of Algorithm 1 of FlexRL: each device has one queue of calls, and a call starts when it is at the head of
 * the queues of all devices that take part.
 */
import type { ExecutionOrder } from './schema.ts';

/**
 * Returns the call at a position of a queue, as 2 · t for the first all-to-all of the t-th sharded pack, and 2 · t + 1 for the
 * second. With overlap, the first all-to-all of the next pack is issued before the second of this pack.
 *
 * @param packs - sharded packs of the device
 * @param position - 0 to 2 · packs − 1
 */
export function callAt(packs: number, position: number, overlap: boolean): number {
  if (!overlap || position === 0 || position === 2 * packs - 1) return position;
  return position % 2 === 1 ? position + 1 : position - 1;
}

/** Returns the sharded packs of each device, in execution order. */
export function shardedOf({ packs, order }: ExecutionOrder): number[][] {
  return order.map((indices) => indices.filter((index) => packs[index]!.degree > 1));
}

/** The queues of collectives: the sharded packs of each device, and whether calls overlap. */
export interface Queues {
  readonly packs: ExecutionOrder['packs'];
  readonly sharded: readonly (readonly number[])[];
  readonly overlap: boolean;
}

/** Returns the call at the head of a device's queue, as 2 · pack, + 1 for the second all-to-all; −1 if the queue is empty. */
export function headOf({ sharded, overlap }: Queues, device: number, position: number): number {
  const mine = sharded[device]!;
  if (position >= 2 * mine.length) return -1;
  const call = callAt(mine.length, position, overlap);
  return 2 * mine[call >> 1]! + (call & 1);
}

/**
 * Runs the queues until nothing can start any more.
 *
 * The order of starts does not matter: a call that can start stays ready until it starts.
 *
 * @param started - called for each call that starts, with the position of each device in its queue before the device moves on
 * @returns the number of calls of each device that have started
 */
export function runQueues(queues: Queues, started?: (call: number, positions: Int32Array) => void): Int32Array {
  const { packs, sharded } = queues;
  const positions = new Int32Array(sharded.length);
  const waiting = new Int32Array(2 * packs.length);
  const ready: number[] = [];
  const arrive = (device: number): void => {
    const call = headOf(queues, device, positions[device]!);
    if (call < 0) return;
    waiting[call]! += 1;
    if (waiting[call] === packs[call >> 1]!.devices.length) ready.push(call);
  };
  for (let device = 0; device < sharded.length; device += 1) arrive(device);
  for (let call = ready.pop(); call !== undefined; call = ready.pop()) {
    started?.(call, positions);
    for (const device of packs[call >> 1]!.devices) {
      positions[device]! += 1;
      arrive(device);
    }
  }
  return positions;
}
