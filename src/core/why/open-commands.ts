/**
 * Requests of a policy that are not answered yet: since when and for which reason each waits, and how long such an answer usually
 * takes. The table of answers suffices to follow decisions and events; the policy needs to do nothing. `waits` says what blocks
 * what, and this file adds times.
 */
import { z } from 'zod';
import { senderOf } from '../../schemas/senders.ts';
import type { AnyDecision, AnyEvent } from '../machine/definition.ts';
import { type Json, keyOf, mostUnasked, type OpenCommand, Table, TrackedCommand } from './command-table.ts';
import { FutileWork, savedFutileWork } from './futile-work.ts';
import { type AnswerRule, itemsOf, type Messages, rulesOf } from './obligations.ts';
import type { UsualFiltered, UsualTime } from './overdue.ts';
import { type Releasing, releases } from './releases.ts';
import { SuspensionNotices, savedSuspendedTries } from './suspended-tries.ts';
import { savedTimes, WaitingTimes } from './waiting-times.ts';

const openCommand = z.strictObject({
  type: z.string(),
  answer: z.string(),
  ids: z.record(z.string(), z.string()),
  since: z.number(),
  by: z.string().optional(),
  reason: z.looseObject({ code: z.string() }),
  attempt: z.int().nonnegative().optional(),
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

function savedCommand({ type, answer, ids, since, by, reason, attempt, missing }: OpenCommand): SavedOpenCommand {
  return {
    ...{ type, answer, ids: { ...ids }, since, reason: { ...reason } },
    ...(by === undefined ? undefined : { by }),
    ...(attempt === undefined ? undefined : { attempt }),
    ...(missing === undefined ? undefined : { missing }),
  };
}

/** Most unanswered commands that are remembered, unless the caller gives another number. */
const mostOpen = 131_072;

/** Commands with which a program begins that needs no environment. */
const begins: ReadonlySet<string> = new Set(['request.launch', 'request.resume']);

/** Time at which a timer runs out; the policy's clock may be ahead of the host's. */
const dueAt = ({ fireAtSeconds, aheadSeconds = 0 }: Json): number => Number(fireAtSeconds) + Number(aheadSeconds);

const idsOf = ({ ids }: AnswerRule, message: Json): OpenCommand['ids'] =>
  Object.fromEntries(ids.map((name) => [name, String(message[name])]));

/** Whether an answer comes from an earlier try than the one that is awaited. */
const isOfEarlierTry = ({ attempt }: Json, awaited: OpenCommand, rule: AnswerRule): boolean => {
  const tried = attempt ?? rule.unnumbered;
  return tried !== undefined && awaited.attempt !== undefined && tried !== awaited.attempt;
};

/** Returns the number of what an answer may bring in portions. Of what is only counted, what was asked for earlier is still missing. */
function missingOf({ portions }: AnswerRule, message: Json, before: OpenCommand | undefined): number | undefined {
  if (portions === undefined) return undefined;
  const all = message[portions[0]] as number | readonly unknown[];
  return typeof all === 'number' ? all + (before?.missing ?? 0) : all.length;
}

/** Is told of each command that opens and ends, and may keep a mark on an open command. */
export interface CommandFollower<Mark> {
  opened(one: OpenCommand): Mark;
  /** @param isAnswered - whether an event has answered the command; otherwise it was replaced, or forgotten */
  ended(mark: Mark, isAnswered: boolean): void;
  /** Another engine owes the answer from now on, which the command says. If absent, the wait ends, and opens anew. */
  moved?(mark: Mark, one: OpenCommand): void;
  /** Returns the longest time that may be learnt from the wait of a command, in seconds; called before it ends. */
  longest(mark: Mark): number;
}

/** What is owed after a message, and the tables in which this begins and ends waits. */
interface Asked<Mark> {
  readonly rule: AnswerRule;
  readonly table: Table<Mark>;
  readonly replaces: readonly Table<Mark>[];
}

/** Follows the commands of one policy. Each message costs O(1), and the memory is bounded. */
export class OpenCommands<Mark = undefined> implements Releasing {
  readonly #tables = new Map<string, Table<Mark>>();
  /** By the type of a decision. */
  readonly #asked = new Map<string, Asked<Mark>[]>();
  /** By the type of an event: the places of the commands that it ends. */
  readonly #ends = new Map<string, Asked<Mark>[]>();
  /** Work that gained nothing. */
  readonly futile: FutileWork;
  /** Suspensions during which only single tries are made. */
  readonly suspended: SuspensionNotices;
  /** The wait for environments. */
  readonly #slots: Table<Mark> | undefined;
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
    for (const rule of rulesOf(messages)) {
      const table = this.#table(rule.answer);
      const asked = { rule, table, replaces: rule.replaces.map((one) => this.#table(one)) };
      this.#asked.set(rule.type, [...(this.#asked.get(rule.type) ?? []), asked]);
      for (const event of rule.answers) {
        const ends = this.#ends.get(event) ?? [];
        if (!ends.some((one) => one.table === table)) ends.push(asked);
        this.#ends.set(event, ends);
      }
    }
    this.#slots = this.#tables.get('slot.ready');
    for (const { answer, times } of saved?.times ?? []) this.#table(answer).times = new WaitingTimes(times);
    // A wait that an earlier version saved without an id ends with none of today's answers.
    const isWhole = (one: SavedOpenCommand): boolean => this.#fieldsOf(one).every((name) => name in one.ids);
    for (const one of saved?.open ?? []) if (isWhole(one)) this.#add(this.#restored(one));
    for (const one of saved?.hoped ?? []) {
      const command = this.#restored(one);
      command.table.hope(command);
    }
  }

  /** Names the ids of a saved command in the order of its key: a saved object may have them in any. */
  #fieldsOf({ type, answer, ids }: SavedOpenCommand): readonly string[] {
    return this.#asked.get(type)?.find(({ rule }) => rule.answer === answer)?.rule.ids ?? Object.keys(ids);
  }

  #restored(one: SavedOpenCommand): TrackedCommand<Mark> {
    const { type, answer, ids: saved, since, by, reason, attempt, missing } = one;
    const fields = this.#fieldsOf(one);
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
    command.attempt = attempt;
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
    const neededSlots = this.#needSlots;
    for (const { table, rule } of this.#ends.get(type) ?? []) this.#answered(table, rule, event, at);
    // A command of another policy, which the host has handed on, begins a wait as one of the policy's own does.
    for (const asked of this.#asked.get(type) ?? []) {
      if (asked.rule.isReport === undefined) this.#open(asked, event as never, at);
      else if (!this.#isAborting(event as never)) this.#open(asked, event as never, at, { code: 'reported' });
    }
    releases.get(type)?.(event as never, this);
    if (neededSlots || !this.#needSlots) return;
    for (const { type, ids } of this.open)
      if (begins.has(type)) this.forgetAwaited(ids.requestId!, 'response.completed');
  }

  /** Ends the wait that an event has answered. */
  #answered(table: Table<Mark>, rule: AnswerRule, event: AnyEvent, at: number): void {
    const key = keyOf(rule.ids, event as never);
    const command = table.byKey.get(key);
    if (command !== undefined) {
      if (isOfEarlierTry(event as never, command, rule)) return;
      this.#learn(command, at);
      this.#end(command, true);
      if (command.missing !== undefined) this.#awaitRest(command, event as never, at);
    } else if (table.isHoped) {
      const hoped = table.hopedFor(key);
      if (hoped !== undefined) this.#learn(hoped, at);
      // The host has answered this kind of notice, so its answers are awaited from now on.
      else table.times = new WaitingTimes();
    }
  }

  /** Ends each wait that an event would end. The event needs only the fields that identify the wait. */
  forget(event: { readonly type: string }): void {
    for (const { table, rule } of this.#ends.get(event.type) ?? [])
      this.#end(table.byKey.get(keyOf(rule.ids, event as never)));
  }

  /** Ends all waits for a usual answer. */
  forgetAll(answer: string): void {
    for (const command of [...(this.#tables.get(answer)?.byKey.values() ?? [])]) this.#end(command);
  }

  /** Ends the waits of a request for these usual answers; others that the same events would end go on. */
  forgetAwaited(requestId: string, ...answers: readonly string[]): void {
    for (const answer of answers) this.#end(this.#tables.get(answer)?.byKey.get(requestId));
  }

  /** A request runs on an engine, which owes the end of its response from now on. */
  placed({ requestId, engineId }: { readonly requestId: string; readonly engineId: string }): void {
    for (const end of ['response.completed', 'request.aborted']) {
      const command = this.#tables.get(end)?.byKey.get(requestId);
      if (command === undefined || command.by === engineId) continue;
      command.by = engineId;
      const { mark } = command;
      if (mark === undefined) continue;
      if (this.#follower!.moved !== undefined) this.#follower!.moved(mark, command);
      else {
        this.#follower!.ended(mark, false);
        command.mark = this.#follower!.opened(command);
      }
    }
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
    if (!this.isHeldBack(decision.type))
      for (const asked of this.#asked.get(decision.type) ?? [])
        this.#open(asked, decision as AnyDecision & Json, at, reason);
    releases.get(decision.type)?.(decision as never, this);
  }

  /** Whether a command begins a program whose environment comes first, so that nothing is owed after it. */
  isHeldBack(type: string): boolean {
    return begins.has(type) && this.#needSlots;
  }

  /** Begins each wait for what is owed after a message. */
  #open(asked: Asked<Mark>, message: AnyDecision & Json, at: number, reason = message.reason): void {
    const { each } = asked.rule;
    for (const item of each === undefined ? [message] : itemsOf(message, each)) this.#await(asked, item, at, reason);
  }

  /** Begins a wait. */
  #await({ table, rule, replaces }: Asked<Mark>, given: Json, at: number, reason: AnyDecision['reason']): void {
    const key = keyOf(rule.ids, given);
    const isHoped = rule.isUnasked === true && table.times === undefined;
    const earlier = table.byKey.get(key);
    let by = given.engineId ?? given.workerId ?? given.nodeId ?? given.replica;
    for (const other of isHoped ? [] : replaces) {
      const replaced = other.byKey.get(key);
      if (replaced === undefined) continue;
      // An abort does not say where the request runs.
      if (senderOf(other.answer) === senderOf(rule.answer)) by ??= replaced.by;
      this.#replace(replaced, at);
    }
    this.#end(earlier);
    const ids = rule.ids.length === 1 ? rule.ids[0]! : idsOf(rule, given);
    const command = new TrackedCommand(
      table,
      rule.type,
      key,
      ids,
      rule.isTimer ? dueAt(given) : at,
      typeof by === 'string' ? by : undefined,
      reason,
      this.#count++,
    );
    if (typeof given.attempt === 'number') command.attempt = given.attempt;
    command.missing = missingOf(rule, given, earlier);
    if (isHoped && this.#follower !== undefined) return table.hope(command);
    this.#add(command);
    if (isHoped && table.inOrder.size > mostUnasked) this.#end(table.inOrder.peek());
    if (this.#size > this.#most) this.forgetOldest();
  }

  /** Returns the command that an event would answer. The event needs only the fields that identify the command. */
  answeredBy(event: { readonly type: string }): OpenCommand | undefined {
    for (const { table, rule } of this.#ends.get(event.type) ?? []) {
      const key = keyOf(rule.ids, event as never);
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

  /** Whether programs wait for environments: then a program begins with its environment. */
  get #needSlots(): boolean {
    return (this.#slots?.times?.weight ?? 0) > 0;
  }

  /** Whether a request is being aborted, so that reports of its last turn or tool lead to nothing more. */
  #isAborting({ requestId }: { readonly requestId: string }): boolean {
    return this.#tables.get('request.aborted')?.byKey.has(requestId) === true;
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

  /** The answer also ends this wait: an aborted request, for example, is not expected to complete. */
  #replace(command: TrackedCommand<Mark>, at: number): void {
    // The follower needs these times for its limits: without them, only the times of short responses would be learnt.
    if (this.#follower !== undefined) this.#learn(command, at);
    this.#end(command);
  }

  /** An answer that comes in portions: the rest is awaited from now on. */
  #awaitRest({ table, type, key, ids, by, reason, missing }: TrackedCommand<Mark>, event: Json, at: number): void {
    const brought = event[this.#asked.get(type)![0]!.rule.portions![1]] as readonly unknown[] | undefined;
    if (brought === undefined || brought.length >= missing!) return;
    const rest = new TrackedCommand(table, type, key, ids, at, by, reason, this.#count++);
    rest.missing = missing! - brought.length;
    this.#add(rest);
  }

  #learn(command: TrackedCommand<Mark>, at: number): void {
    const { table, since, mark } = command;
    const longest = mark === undefined ? Number.POSITIVE_INFINITY : this.#follower!.longest(mark);
    table.times ??= new WaitingTimes();
    table.times.add(Math.max(0, Math.min(at - since, longest)));
  }
}
