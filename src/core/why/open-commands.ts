/**
 * Requests of a policy that are not answered yet: since when and for which reason each waits, and how long such an answer usually
 * takes. The table of answers suffices to follow decisions and events; the policy needs to do nothing. `waits` says what blocks
 * what, and this file adds times.
 */
import { z } from 'zod';
import { sequels } from '../../schemas/answers.ts';
import type { AnyDecision, AnyEvent } from '../machine/definition.ts';
import { type Json, keyOf, type Messages, rulesOf } from './answer-rules.ts';
import { mostUnasked, type OpenCommand, Table, TrackedCommand } from './command-table.ts';
import { FutileWork, savedFutileWork, type UsualFiltered } from './futile-work.ts';
import { SuspensionNotices, savedSuspendedTries } from './suspended-tries.ts';
import { savedTimes, WaitingTimes } from './waiting-times.ts';

/** How long an answer usually takes. */
export interface UsualTime {
  /** Median, in seconds. */
  readonly medianSeconds: number;
  /** Time that 99 percent of the answers do not exceed, in seconds. */
  readonly highSeconds: number;
  /** Number of answers from which the median was learnt; older answers weigh less. */
  readonly answers: number;
}

const openCommand = z.strictObject({
  type: z.string(),
  answer: z.string(),
  ids: z.record(z.string(), z.string()),
  since: z.number(),
  by: z.string().optional(),
  reason: z.looseObject({ code: z.string() }),
  missing: z.int().positive().optional(),
});
/** Schema of {@link OpenCommands} in a state. */
export const savedOpenCommands = z.strictObject({
  open: z.array(openCommand),
  hoped: z.array(openCommand).optional(),
  times: z.array(z.strictObject({ answer: z.string(), times: savedTimes })),
  futile: savedFutileWork.optional(),
  suspended: savedSuspendedTries.optional(),
});
export type SavedOpenCommands = z.output<typeof savedOpenCommands>;

type SavedOpenCommand = z.output<typeof openCommand>;

function savedCommand({ type, answer, ids, since, by, reason, missing }: OpenCommand): SavedOpenCommand {
  return {
    ...{ type, answer, ids: { ...ids }, since, reason: { ...reason } },
    ...(by === undefined ? undefined : { by }),
    ...(missing === undefined ? undefined : { missing }),
  };
}

/** Most unanswered commands that are remembered, unless the caller gives another number. */
const mostOpen = 131_072;

/** Is told of each command that opens and ends, and may keep a mark on an open command. */
export interface CommandFollower<Mark> {
  opened(one: OpenCommand): Mark;
  /** @param isAnswered - whether an event has answered the command; otherwise it was replaced, or forgotten */
  ended(mark: Mark, isAnswered: boolean): void;
  /** Returns the longest time that may be learnt from the wait of a command, in seconds; called before it ends. */
  longest(mark: Mark): number;
}

/** A table, and the fields of a message that identify the command in this table. */
interface AnsweredTable<Mark> {
  readonly table: Table<Mark>;
  readonly fields: readonly string[];
}

interface Asked<Mark> extends AnsweredTable<Mark> {
  readonly replaces: readonly Table<Mark>[];
  readonly isUnasked: boolean;
}

/** Follows the commands of one policy. Each message costs O(1), and the memory is bounded. */
export class OpenCommands<Mark = undefined> {
  readonly #tables = new Map<string, Table<Mark>>();
  /** By the type of a decision. */
  readonly #asked = new Map<string, Asked<Mark>>();
  /** By the type of an event: the places of the commands that it ends. */
  readonly #ends = new Map<string, AnsweredTable<Mark>[]>();
  /** Work that gained nothing. */
  readonly futile: FutileWork;
  /** Suspensions during which only single tries are made. */
  readonly suspended: SuspensionNotices;
  readonly #most: number;
  readonly #follower: CommandFollower<Mark> | undefined;
  #size = 0;
  #count = 0;

  /**
   * @param most - most commands that are remembered; the oldest are forgotten first
   * @param follower - hears of every change from now on, and of what is saved
   */
  constructor(messages: Messages, most = mostOpen, saved?: SavedOpenCommands, follower?: CommandFollower<Mark>) {
    this.#most = most;
    this.#follower = follower;
    this.futile = new FutileWork(saved?.futile);
    this.suspended = new SuspensionNotices(saved?.suspended);
    for (const { type, answer, others, replaces, fields, isUnasked } of rulesOf(messages)) {
      const replaced = replaces.map((one) => this.#table(one));
      const asked = { table: this.#table(answer), fields, replaces: replaced, isUnasked };
      this.#asked.set(type, asked);
      for (const event of [answer, ...others]) {
        const ends = this.#ends.get(event) ?? [];
        if (!ends.some(({ table }) => table === asked.table)) ends.push(asked);
        this.#ends.set(event, ends);
      }
    }
    for (const { answer, times } of saved?.times ?? []) this.#table(answer).times = new WaitingTimes(times);
    for (const one of saved?.open ?? []) this.#add(this.#restored(one));
    for (const one of saved?.hoped ?? []) {
      const command = this.#restored(one);
      command.table.hope(command);
    }
  }

  #restored({ type, answer, ids: saved, since, by, reason, missing }: SavedOpenCommand): TrackedCommand<Mark> {
    // The keys of a saved object may be in any order.
    const fields = this.#asked.get(type)?.fields ?? Object.keys(saved);
    const ids = Object.fromEntries(fields.map((name) => [name, saved[name]!]));
    const command = new TrackedCommand<Mark>(
      this.#table(answer),
      type,
      keyOf(fields, ids),
      ids,
      since,
      by,
      reason,
      this.#count++,
    );
    command.missing = missing;
    return command;
  }

  /** Number of commands without an answer. */
  get size(): number {
    return this.#size;
  }

  /** The commands without an answer, oldest first. */
  get open(): OpenCommand[] {
    return this.#inOrder();
  }

  /** Marks that the follower has set on open commands. */
  get marks(): Mark[] {
    return this.#inOrder().map(({ mark }) => mark as Mark);
  }

  /** Follows an applied event and then the decisions that it led to. */
  follow(event: AnyEvent, decisions: readonly AnyDecision[], at: number): void {
    this.heard(event, at);
    for (const one of decisions) this.told(one);
  }

  /** Follows an applied event, before its decisions. */
  heard(event: AnyEvent, at: number): void {
    const { type } = event;
    this.futile.follow(event, at);
    this.suspended.follow(event, at);
    if (type === 'host.restarted') this.#restarted();
    else if (type === 'engine.lost' || type === 'reward-worker.lost') this.#lost(event as never);
    const ends = this.#ends.get(type);
    if (ends !== undefined) {
      for (const { table, fields } of ends) {
        const key = keyOf(fields, event as never);
        const command = table.byKey.get(key);
        if (command !== undefined) {
          this.#learn(command, at);
          this.#end(command, true);
          if (command.missing !== undefined) this.#awaitRest(command, event, at);
        } else if (table.isHoped) {
          const hoped = table.hopedFor(key);
          if (hoped !== undefined) this.#learn(hoped, at);
          // The host has answered this kind of notice, so its answers are awaited from now on.
          else table.times = new WaitingTimes();
        }
      }
    }
    if (Object.hasOwn(sequels, type) && !this.#isAborting(event as never))
      this.told({ ...event, at, reason: { code: 'reported' } });
  }

  /**
   * Forgets the command that an event would answer, because the answer is not owed any more. The event needs only the fields that
   * identify the command.
   */
  forget(event: { readonly type: string }): void {
    for (const { table, fields } of this.#ends.get(event.type) ?? [])
      this.#end(table.byKey.get(keyOf(fields, event as never)));
  }

  /**
   * Forgets what is awaited for a request, by the type of the usual answer; other commands that the same event would answer stay.
   */
  forgetAwaited(answer: string, requestId: string): void {
    this.#end(this.#tables.get(answer)?.byKey.get(requestId));
  }

  /** Forgets the command that is the oldest. */
  forgetOldest(): void {
    let oldest: TrackedCommand<Mark> | undefined;
    for (const { inOrder } of this.#tables.values()) {
      const first = inOrder.peek();
      if (first !== undefined && (oldest === undefined || first.order < oldest.order)) oldest = first;
    }
    this.#end(oldest);
  }

  /** Follows a decision. The time and the reason of the decision are kept, unless others are given. */
  told(decision: AnyDecision, at = decision.at, reason = decision.reason): void {
    this.futile.follow(decision, at);
    this.suspended.follow(decision, at);
    const asked = this.#asked.get(decision.type);
    if (asked === undefined) return;
    const { table, fields, replaces, isUnasked } = asked;
    const given = decision as AnyDecision & Json;
    const key = keyOf(fields, given);
    const isHoped = isUnasked && table.times === undefined;
    // The answer also ends the wait for the replaced command: an aborted request, for example, is not expected to complete.
    for (const other of isHoped ? [] : replaces) {
      const replaced = other.byKey.get(key);
      if (replaced === undefined) continue;
      // The follower needs these times for its limits: without them, only the times of short responses would be learnt.
      if (this.#follower !== undefined) this.#learn(replaced, at);
      this.#end(replaced);
    }
    const before = table.byKey.get(key);
    this.#end(before);
    const by = given.engineId ?? given.workerId;
    // The wait for a timer begins when the timer is due.
    const { fireAtSeconds, aheadSeconds = 0 } = given as { fireAtSeconds?: unknown; aheadSeconds?: number };
    const since = typeof fireAtSeconds === 'number' ? fireAtSeconds + aheadSeconds : at;
    const ids =
      fields.length === 1 ? fields[0]! : Object.fromEntries(fields.map((name) => [name, String(given[name])]));
    const { type } = decision;
    const engine = typeof by === 'string' ? by : undefined;
    const command = new TrackedCommand(table, type, key, ids, since, engine, reason, this.#count++);
    // Prompts that were requested earlier and have not come yet are still missing.
    if (table.answer === 'prompts.supplied') command.missing = (given.count as number) + (before?.missing ?? 0);
    if (isHoped && this.#follower !== undefined) return table.hope(command);
    this.#add(command);
    if (isHoped && table.inOrder.size > mostUnasked) this.#end(table.inOrder.peek());
    if (this.#size > this.#most) this.forgetOldest();
  }

  /** Returns the command that an event would answer. The event needs only the fields that identify the command. */
  answeredBy(event: { readonly type: string }): OpenCommand | undefined {
    for (const { table, fields } of this.#ends.get(event.type) ?? []) {
      const key = keyOf(fields, event as never);
      const command = table.byKey.get(key) ?? table.hopedFor(key);
      if (command !== undefined) return command;
    }
    return undefined;
  }

  /** Returns the usual time until answers of this type; `undefined` before the first answer. */
  usual(answer: string): UsualTime | undefined {
    const times = this.#tables.get(answer)?.times;
    if (times === undefined || times.weight === 0) return undefined;
    return { medianSeconds: times.quantile(0.5), highSeconds: times.quantile(0.99), answers: times.weight };
  }

  /** Returns how many prompts, or groups, are usually filtered between two that count; `undefined` before the first one. */
  usuallyFiltered(): UsualFiltered | undefined {
    return this.futile.usual;
  }

  save(): SavedOpenCommands {
    const tables = [...this.#tables.values()];
    const hoped = tables.flatMap((table) => table.hoped);
    const futile = this.futile.save();
    const suspended = this.suspended.save();
    return {
      open: this.open.map(savedCommand),
      ...(hoped.length === 0 ? undefined : { hoped: hoped.map(savedCommand) }),
      times: tables.flatMap(({ answer, times }) => (times === undefined ? [] : [{ answer, times: times.save() }])),
      ...(futile === undefined ? undefined : { futile }),
      ...(suspended === undefined ? undefined : { suspended }),
    };
  }

  #table(answer: string): Table<Mark> {
    let table = this.#tables.get(answer);
    if (table === undefined) this.#tables.set(answer, (table = new Table(answer)));
    return table;
  }

  /** Forgets all requests, because they are made anew. Requests without ids, such as that for the next round, stay open. */
  #restarted(): void {
    for (const command of this.#inOrder()) if (Object.keys(command.ids).length > 0) this.#end(command);
  }

  /** Whether a request is being aborted, so that reports of its last turn or tool lead to nothing more. */
  #isAborting({ requestId }: { readonly requestId: string }): boolean {
    return this.#tables.get('request.aborted')?.byKey.has(requestId) === true;
  }

  /** Forgets the commands of an engine or worker that is lost, since the policy gives this work to others. */
  #lost({ engineId, workerId }: { readonly engineId?: string; readonly workerId?: string }): void {
    const by = engineId ?? workerId;
    for (const command of this.#inOrder()) if (command.by === by) this.#end(command);
  }

  #inOrder(): TrackedCommand<Mark>[] {
    return [...this.#tables.values()].flatMap(({ byKey }) => [...byKey.values()]).sort((a, b) => a.order - b.order);
  }

  #add(command: TrackedCommand<Mark>): void {
    const { table, key } = command;
    table.byKey.set(key, command);
    table.inOrder.push(command);
    this.#size += 1;
    command.mark = this.#follower?.opened(command);
  }

  #end(command: TrackedCommand<Mark> | undefined, isAnswered = false): void {
    if (command === undefined) return;
    const { table, mark } = command;
    table.byKey.delete(command.key);
    table.inOrder.remove(command);
    this.#size -= 1;
    if (mark !== undefined) this.#follower!.ended(mark, isAnswered);
  }

  /** Prompts may come in portions: the rest is awaited from now on. */
  #awaitRest({ table, type, key, ids, by, reason, missing }: TrackedCommand<Mark>, event: AnyEvent, at: number): void {
    const { prompts } = event as { readonly prompts?: readonly unknown[] };
    if (prompts === undefined || prompts.length >= missing!) return;
    const rest = new TrackedCommand(table, type, key, ids, at, by, reason, this.#count++);
    rest.missing = missing! - prompts.length;
    this.#add(rest);
  }

  #learn(command: TrackedCommand<Mark>, at: number): void {
    const { table, since, mark } = command;
    const longest = mark === undefined ? Number.POSITIVE_INFINITY : this.#follower!.longest(mark);
    table.times ??= new WaitingTimes();
    table.times.add(Math.max(0, Math.min(at - since, longest)));
  }
}
