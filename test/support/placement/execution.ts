/** What flex-ulysses says of execution, from its definition: Algorithm 1 line by line, graphs, and flows. */
import type { ExecutionOrder, SequenceAssignment, SequencePack } from '../../../src/planners/flex-ulysses/index.ts';

/** A collective call: which all-to-all of which pack. */
export interface Call {
  readonly pack: number;
  readonly which: 1 | 2;
}

/** The calls of one device, as Algorithm 1 issues them; without overlap one after the other. */
export function callsOf(plan: ExecutionOrder, device: number, overlap: boolean): Call[] {
  const mine = plan.order[device]!.filter((pack) => plan.packs[pack]!.degree > 1);
  const calls: Call[] = [];
  if (overlap && mine.length > 0) calls.push({ pack: mine[0]!, which: 1 });
  for (let t = 0; t < mine.length; t += 1) {
    if (!overlap) calls.push({ pack: mine[t]!, which: 1 });
    else if (t + 1 < mine.length) calls.push({ pack: mine[t + 1]!, which: 1 });
    calls.push({ pack: mine[t]!, which: 2 });
  }
  return calls;
}

/** What becomes of queues of calls: they end, hang, or meet a call of another pack. */
export function outcome(plan: ExecutionOrder, queues: readonly (readonly Call[])[]): 'ends' | 'hangs' | 'mixes' {
  const key = ({ pack }: Call) => plan.packs[pack]!.devices.join();
  for (const [index, { devices }] of plan.packs.entries()) {
    const seen = devices.map((device) => {
      const calls = queues[device]!.filter((call) => key(call) === key({ pack: index, which: 1 }));
      return calls.map(({ pack, which }) => `${pack}/${which}`).join();
    });
    if (new Set(seen).size > 1) return 'mixes';
  }
  // All queues together as one graph: it can be sorted if and only if it has no cycle.
  const name = ({ pack, which }: Call) => 2 * pack + which - 1;
  const before = new Map<number, Set<number>>();
  for (const queue of queues) {
    queue.forEach((call, at) => {
      const known = before.get(name(call)) ?? new Set<number>();
      before.set(name(call), known);
      if (at > 0) known.add(name(queue[at - 1]!));
    });
  }
  for (let left = before.size; left > 0; left = before.size) {
    const free = [...before].filter(([, others]) => others.size === 0).map(([call]) => call);
    for (const call of free) before.delete(call);
    for (const others of before.values()) for (const call of free) others.delete(call);
    if (before.size === left) return 'hangs';
  }
  return 'ends';
}

/** How long the parts of a pack take. */
export interface PackTimes {
  readonly attention: number;
  readonly allToAll: number;
}

/** Seconds until the last device is done: constraints between starts, raised until all of them hold. */
export function makespanOf(plan: ExecutionOrder, times: readonly PackTimes[], overlap: boolean): number {
  const starts = new Map<string, number>();
  const at = (node: string) => starts.get(node) ?? 0;
  const rules: [node: string, after: string, seconds: number][] = [];
  const ends: [node: string, seconds: number][] = [];
  plan.order.forEach((mine, device) => {
    const communicates = callsOf(plan, device, overlap);
    const name = ({ pack, which }: Call) => `${pack}/${which}`;
    const attention = (pack: number) => `${pack}@${device}`;
    communicates.forEach((call, k) => {
      ends.push([name(call), times[call.pack]!.allToAll]);
      if (call.which === 1) rules.push([attention(call.pack), name(call), times[call.pack]!.allToAll]);
      else rules.push([name(call), attention(call.pack), times[call.pack]!.attention]);
      const last = communicates[k - 1];
      if (last !== undefined) rules.push([name(call), name(last), times[last.pack]!.allToAll]);
    });
    const sharded = mine.filter((pack) => plan.packs[pack]!.degree > 1);
    const alone = mine.filter((pack) => plan.packs[pack]!.degree === 1);
    const computes = overlap ? [...alone, ...sharded] : [...sharded, ...alone];
    computes.forEach((pack, k) => {
      ends.push([attention(pack), times[pack]!.attention]);
      const last = computes[k - 1];
      if (last !== undefined) rules.push([attention(pack), attention(last), times[last]!.attention]);
    });
    sharded.forEach((pack, t) => {
      const last = sharded[t - 1];
      // The next first all-to-all is issued as attention starts.
      if (overlap && last !== undefined) rules.push([`${pack}/1`, attention(last), 0]);
    });
    const lastCall = communicates.at(-1);
    // One thing after the other: unsharded packs wait for the last all-to-all.
    if (!overlap && lastCall !== undefined && alone.length > 0) {
      rules.push([attention(alone[0]!), name(lastCall), times[lastCall.pack]!.allToAll]);
    }
  });
  for (let changed = true; changed; ) {
    changed = false;
    for (const [node, after, seconds] of rules) {
      const least = at(after) + seconds;
      if (least <= at(node)) continue;
      starts.set(node, least);
      changed = true;
    }
  }
  return ends.reduce((most, [node, seconds]) => Math.max(most, at(node) + seconds), 0);
}

/** Most frames that any even spread leaves on devices of their sequence: a flow, augmented frame by frame. */
export function mostLocalFrames(
  assignments: readonly SequenceAssignment[],
  frames: readonly number[],
  devices: number,
): number {
  const total = frames.reduce((sum, one) => sum + one, 0);
  const capacity = new Map<string, Map<string, number>>();
  const edge = (from: string, to: string, room: number): void => {
    const put = (one: string, other: string, more: number) => {
      const out = capacity.get(one) ?? new Map<string, number>();
      capacity.set(one, out.set(other, (out.get(other) ?? 0) + more));
    };
    put(from, to, room);
    put(to, from, 0);
  };
  assignments.forEach(({ sequence, devices: group }) => {
    edge('source', `s${sequence}`, frames[sequence]!);
    for (const device of group) edge(`s${sequence}`, `d${device}`, total);
  });
  for (let device = 0; device < devices; device += 1) {
    edge(`d${device}`, 'sink', Math.floor(total / devices));
    edge(`d${device}`, 'more', 1);
  }
  edge('more', 'sink', total % devices);
  const push = (node: string, seen: Set<string>): boolean => {
    if (node === 'sink') return true;
    seen.add(node);
    for (const [next, room] of capacity.get(node) ?? []) {
      if (room === 0 || seen.has(next) || !push(next, seen)) continue;
      capacity.get(node)!.set(next, room - 1);
      capacity.get(next)!.set(node, capacity.get(next)!.get(node)! + 1);
      return true;
    }
    return false;
  };
  let local = 0;
  while (push('source', new Set())) local += 1;
  return local;
}

/** The packs of one group, in the order of the plan. */
export function packsByGroup(packs: readonly SequencePack[]): SequencePack[][] {
  const groups = new Map<string, SequencePack[]>();
  for (const pack of packs) {
    const key = pack.devices.join();
    groups.set(key, [...(groups.get(key) ?? []), pack]);
  }
  return [...groups.values()];
}
