/** The state of environment-slots: kinds, environments and programs. Queues, counts and alarms are derived. */
import { z } from 'zod';
import { IndexedHeap } from '../../core/collections/heap.ts';
import { prefixes } from '../../core/ids/minted-ids.ts';
import { recentIds } from '../../core/ids/recent-ids.ts';
import { makerOf } from '../../core/machine/beginning.ts';
import type { Context, Live } from '../../core/machine/definition.ts';
import { derived, mapBy } from '../../core/machine/state.ts';
import { anchorsOf } from '../../core/rollout/adaptive-timeout.ts';
import type { EnvironmentSlotsConfig, EnvironmentSlotsDecision } from '../../generated/settings/environment-slots.ts';
import { count, environment, requestId, seconds, slotId } from '../../schemas/units.ts';
import { Demand, demandState } from './demand.ts';

/** Most tools whose times are kept; the least recently used tools are forgotten. */
const mostTools = 4096;

/** Number of closed programs that are remembered. */
const rememberedPrograms = 1024;

const outside = () => -1;

/** The time at which something of a slot or of a kind is due. */
export interface Alarm {
  due: number;
  readonly of: { readonly slot: Slot } | { readonly kind: Kind };
  heapIndex: number;
}
/** Makes an alarm that is not set. */
export const alarmOf = (of: Alarm['of']): Alarm => ({ due: 0, of, heapIndex: -1 });
const orderOf = ({ of }: Alarm): number => ('slot' in of ? of.slot.order : of.kind.order);
const byDue = (a: Alarm, b: Alarm): number => a.due - b.due || orderOf(a) - orderOf(b);
const latestFirst = (a: Slot, b: Slot): number => b.order - a.order;
const bySeq = (a: Program, b: Program): number => a.seq - b.seq;

const tool = z.strictObject({
  name: z.string(),
  startedAt: seconds,
  limitSeconds: seconds,
  explores: z.boolean(),
});

const slot = z.strictObject({
  id: slotId,
  environment,
  /** Number in the order of starts, and of becoming idle. */
  order: count,
  /** `stopping` is the end of an environment that was still starting. */
  status: z.enum(['starting', 'idle', 'busy', 'ending', 'stopping']),
  /**
   * Time since which the environment has this status, in seconds; or the time of a host restart after which its program was named
   * again.
   */
  since: seconds,
  /** Time at which the status, or the tool, has lasted too long, in seconds. */
  due: seconds.nullable(),
  /** The program that has the environment. */
  requestId: requestId.nullable(),
  /** Whether the environment has ever worked; or whether the host has restarted since and may have lost it. */
  health: z.enum(['new', 'proven', 'restarted']),
  /** Whether the start is a trial of a suspended kind. */
  isTrial: z.boolean(),
  /** Time limit of the start, in seconds. */
  startLimitSeconds: seconds,
  /** The tool that runs in the environment. */
  tool: tool.nullable(),
  kind: derived<Kind>(),
  alarm: derived<Alarm>(),
  /** Place among the idle or the starting environments of its kind. */
  heapIndex: derived(outside),
});
/** An environment. */
export interface Slot extends z.output<typeof slot> {}
export const makeSlot = makerOf(slot);

const program = z.strictObject({
  requestId,
  environment,
  /** Number in the order of requests. */
  seq: count,
  /** Time since which the program waits, in seconds. */
  since: seconds,
  /** Number of environments of the program that have failed. */
  failures: count,
  slot: derived<Slot | null>(() => null),
  /** Place among the waiting programs. */
  heapIndex: derived(outside),
});
/** A program that waits for an environment, or has one. */
export interface Program extends z.output<typeof program> {}

const kind = z.strictObject({
  environment,
  order: count,
  slots: count,
  /** Failures in a row of environments that have never worked. */
  failures: count,
  /** Suspensions since an environment of this kind last worked. */
  suspensions: count,
  suspendedAt: seconds.nullable(),
  /** Time of the next trial, in seconds. */
  retryAt: seconds,
  /** The longest start, in seconds; 0 before the first start. */
  longestStartSeconds: seconds,
  demand: demandState,
  /** Programs that wait, the oldest first. */
  waiting: derived(() => new IndexedHeap<Program>(bySeq)),
  /** Environments without a program, the most recent first, so that of the kept environments the same ones stay idle longest. */
  idle: derived(() => new IndexedHeap<Slot>(latestFirst)),
  starting: derived(() => new IndexedHeap<Slot>(latestFirst)),
  /** Environments that exist. */
  total: derived(() => 0),
  /** Number of idle environments that are ending. */
  leaving: derived(() => 0),
  alarm: derived<Alarm>(),
});
/** A kind of environments. */
export interface Kind extends z.output<typeof kind> {}

export const slotsState = z
  .strictObject({
    kinds: mapBy('environment', kind),
    slots: mapBy('id', slot),
    programs: mapBy('requestId', program),
    /** Ids of the latest closed programs: a request of such a program has crossed its end. */
    ended: recentIds(requestId, rememberedPrograms),
    /** Longest answer of each tool, in seconds. */
    tools: anchorsOf(z.string()),
    /** Time at which the timer fires, in seconds; `null` without a timer. */
    timerAt: seconds.nullable(),
    seq: count,
    /** Number of the next environment; it never decreases. */
    nextSlot: count,
    ...prefixes,
    alarms: derived(() => new IndexedHeap<Alarm>(byDue)),
    /** Kinds that the present event has changed. */
    touched: derived(() => new Set<Kind>()),
  })
  .superRefine(({ kinds, slots, programs }, context) => {
    const issue = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message });
    const free = new Set(programs.keys());
    [...slots.values()].forEach((one, index) => {
      if (!kinds.has(one.environment)) issue(['slots', index, 'environment'], 'a kind of the snapshot');
      if ((one.requestId !== null) !== (one.status === 'busy')) issue(['slots', index, 'requestId'], 'an id if busy');
      if (one.requestId !== null && !free.delete(one.requestId)) {
        issue(['slots', index, 'requestId'], 'a program of the snapshot, once');
      }
    });
    [...programs.values()].forEach((one, index) => {
      if (!kinds.has(one.environment)) issue(['programs', index, 'environment'], 'a kind of the snapshot');
    });
  });
export type SlotsState = Live<z.output<typeof slotsState>, EnvironmentSlotsConfig>;
export type SavedSlots = z.input<typeof slotsState>;
/** The context through which handlers emit decisions. */
export type Ctx = Context<EnvironmentSlotsDecision>;

/** Returns a new kind, in its saved form. */
const newKind = (name: string, slots: number, order: number): SavedSlots['kinds'][number] => ({
  ...{ environment: name, slots, order, failures: 0, suspensions: 0, suspendedAt: null, retryAt: 0 },
  ...{ longestStartSeconds: 0, demand: new Demand().save() },
});

export function begin({ idPrefix, slots }: EnvironmentSlotsConfig): Partial<SavedSlots> {
  // Sorted by name, because JSON objects have no order that all languages keep.
  const names = Object.keys(slots).sort();
  const kinds = names.map((name, order) => newKind(name, slots[name]!, order));
  return { prefix: idPrefix, kinds, seq: kinds.length };
}

/** Adds a kind whose environments may exist from now on. */
export function addKind(state: SlotsState, name: string, slots: number): Kind {
  const added = kind.parse(newKind(name, slots, state.seq++)) as Kind;
  added.alarm = alarmOf({ kind: added });
  state.kinds.set(name, added);
  return added;
}

export function link(state: SlotsState): void {
  state.tools.limit(mostTools);
  for (const one of state.kinds.values()) one.alarm = alarmOf({ kind: one });
  for (const one of state.slots.values()) {
    one.kind = state.kinds.get(one.environment)!;
    one.alarm = alarmOf({ slot: one });
    enter(one);
    setDue(state, one, one.due);
    if (one.requestId !== null) state.programs.get(one.requestId)!.slot = one;
  }
  for (const one of state.programs.values()) {
    if (one.slot === null) state.kinds.get(one.environment)!.waiting.update(one);
  }
  for (const one of state.kinds.values()) alarmTrial(state, one);
}

/** Sets when something of a slot is due; `null`: nothing is. */
export function setDue(state: SlotsState, one: Slot, due: number | null): void {
  one.due = due;
  one.alarm.due = due ?? 0;
  if (due === null) state.alarms.remove(one.alarm);
  else state.alarms.update(one.alarm);
}

/** Sets the alarm of a suspended kind to its next trial, if a program waits for the kind and the kind has room. */
export function alarmTrial(state: SlotsState, one: Kind): void {
  one.alarm.due = one.retryAt;
  if (needsTrial(one)) state.alarms.update(one.alarm);
  else state.alarms.remove(one.alarm);
}

/** Whether a kind is suspended and a program waits for a trial. */
export function needsTrial({ suspendedAt, waiting, starting, total, slots }: Kind): boolean {
  return suspendedAt !== null && waiting.size > 0 && starting.size === 0 && total < slots;
}

/** Counts a slot in its kind, by its status. */
export function enter(one: Slot): void {
  const { kind: its, status } = one;
  its.total += 1;
  if (status === 'idle') its.idle.update(one);
  else if (status === 'starting') its.starting.update(one);
  else if (status !== 'busy') its.leaving += 1;
}

/** Removes a slot from the counts of its kind. */
export function leave(one: Slot): void {
  const { kind: its, status } = one;
  its.total -= 1;
  if (status === 'idle') its.idle.remove(one);
  else if (status === 'starting') its.starting.remove(one);
  else if (status !== 'busy') its.leaving -= 1;
}
