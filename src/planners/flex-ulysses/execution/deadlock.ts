/** Checks whether all collective calls of a plan can start, and whether devices pair them up as planned. */
import { refuse } from '../../../errors.ts';
import { callAt, headOf, type Queues, runQueues, shardedOf } from './collectives.ts';
import type { ExecutionOrder } from './schema.ts';

/** The reason why a plan cannot be executed. */
export interface Deadlock {
  /**
   * `pairing`: the members of a group do not make the same calls in the same order, so that a call would be paired with a different
   * call, or with none. `cycle`: devices wait for each other.
   */
  readonly kind: 'pairing' | 'cycle';
  /**
   * For a cycle: devices each of which waits for the next, and the last for the first. For a pairing: two devices whose calls
   * differ, or one device that lists a pack twice, or lists a pack that does not contain the device.
   */
  readonly devices: readonly number[];
  /** The pack of the next call of each of these devices; −1 if the device has no further call. */
  readonly packs: readonly number[];
  /** The deadlock, as a message. */
  readonly message: string;
}

/** Options that decide the order of the calls. */
export interface DeadlockOptions {
  /** The pass; `backward` is the exact reverse of `forward`. */
  readonly pass?: 'forward' | 'backward' | undefined;
  /**
   * Whether a device issues the first all-to-all of its next pack before the second all-to-all of the current pack; `true` if
   * absent.
   */
  readonly overlap?: boolean | undefined;
}

const nameOf = (call: number): string =>
  call < 0 ? 'no further call' : `the ${call & 1 ? 'second' : 'first'} all-to-all of pack ${call >> 1}`;

function checkPacks({ packs, order }: ExecutionOrder): void {
  packs.forEach(({ degree, devices }, at) => {
    if (degree === devices.length) return;
    refuse('invalid_input', `packs[${at}].degree`, `${devices.length}, the number of its devices`, degree);
  });
  order.forEach((mine, device) => {
    const at = mine.findIndex((pack) => packs[pack] === undefined);
    if (at < 0) return;
    refuse('invalid_input', `order[${device}][${at}]`, `an index below ${packs.length}, the number of packs`, mine[at]);
  });
}

/** Finds a device that lists a pack twice, or a pack that does not contain the device. */
function strayPack({ packs, sharded }: Queues): Deadlock | undefined {
  const left = sharded.map(() => new Set<number>());
  packs.forEach(({ devices }, pack) => {
    for (const device of devices) left[device]?.add(pack);
  });
  for (const [device, mine] of sharded.entries()) {
    for (const pack of mine) {
      if (left[device]!.delete(pack)) continue;
      const what = packs[pack]!.devices.includes(device) ? `lists pack ${pack} twice` : `has no part in pack ${pack}`;
      return { kind: 'pairing', devices: [device], packs: [pack], message: `device ${device} ${what}` };
    }
  }
  return undefined;
}

/** Numbers the communicator of each pack: packs on the same devices share one. */
function communicators(packs: Queues['packs']): number[] {
  const numbers = new Map<string, number>();
  return packs.map(({ devices }, pack) => {
    const key = devices.join();
    const number = numbers.get(key) ?? pack;
    numbers.set(key, number);
    return number;
  });
}

/** Returns the calls of a device by communicator, each list in call order. */
function callsByGroup({ sharded, overlap }: Queues, device: number, groupOf: readonly number[]): Map<number, number[]> {
  const mine = sharded[device]!;
  const calls = new Map<number, number[]>();
  for (let position = 0; position < 2 * mine.length; position += 1) {
    const code = callAt(mine.length, position, overlap);
    const pack = mine[code >> 1]!;
    const call = 2 * pack + (code & 1);
    const known = calls.get(groupOf[pack]!);
    if (known === undefined) calls.set(groupOf[pack]!, [call]);
    else known.push(call);
  }
  return calls;
}

/** Finds a group in which two members do not make the same calls in the same order. */
function wrongPair(queues: Queues): Deadlock | undefined {
  const groupOf = communicators(queues.packs);
  const calls = queues.sharded.map((_, device) => callsByGroup(queues, device, groupOf));
  for (const [group, { degree, devices }] of queues.packs.entries()) {
    if (groupOf[group] !== group || degree === 1) continue;
    const [first] = devices;
    const wanted = calls[first!]?.get(group) ?? [];
    for (const device of devices.slice(1)) {
      const got = calls[device]?.get(group) ?? [];
      const at = Array.from({ length: Math.max(wanted.length, got.length) }).findIndex((_, i) => wanted[i] !== got[i]);
      if (at < 0) continue;
      const [one, other] = [wanted[at] ?? -1, got[at] ?? -1];
      const who = `in the group ${devices.join(', ')}`;
      const message = `${who}, device ${first} comes to ${nameOf(one)} and device ${device} to ${nameOf(other)}`;
      return { kind: 'pairing', devices: [first!, device], packs: [one >> 1, other >> 1], message };
    }
  }
  return undefined;
}

/**
 * Finds devices that wait for each other. The walk starts at a stuck device and repeatedly goes on to a device that has not
 * reached the same call.
 */
function cycle(queues: Queues, positions: Int32Array): Deadlock | undefined {
  const heads = queues.sharded.map((_, device) => headOf(queues, device, positions[device]!));
  let device = heads.findIndex((call) => call >= 0);
  if (device < 0) return undefined;
  const path: number[] = [];
  while (!path.includes(device)) {
    path.push(device);
    const call = heads[device]!;
    device = queues.packs[call >> 1]!.devices.find((one) => heads[one] !== call)!;
  }
  const devices = path.slice(path.indexOf(device));
  const waits = devices.map((one, at) => {
    const next = devices[(at + 1) % devices.length]!;
    return `device ${one} in ${nameOf(heads[one]!)} waits for device ${next}`;
  });
  return { kind: 'cycle', devices, packs: devices.map((one) => heads[one]! >> 1), message: waits.join('; ') };
}

/**
 * Returns why the collectives of a plan would hang or be paired wrongly; `undefined` if neither happens.
 *
 * Neither happens if and only if all members of each communicator make the same calls in the same order, and the queues of the
 * devices together have no cycle.
 *
 * @param plan - packs and order of a plan, possibly changed by a host
 * @throws PolicyError `invalid_input` for an order that names no pack, and for a degree that is not the number of devices
 */
export function findDeadlock(plan: ExecutionOrder, options: DeadlockOptions = {}): Deadlock | undefined {
  const { pass = 'forward', overlap = true } = options;
  checkPacks(plan);
  const sharded = shardedOf(plan);
  if (pass === 'backward') for (const mine of sharded) mine.reverse();
  const queues: Queues = { packs: plan.packs, sharded, overlap };
  return strayPack(queues) ?? wrongPair(queues) ?? cycle(queues, runQueues(queues));
}
