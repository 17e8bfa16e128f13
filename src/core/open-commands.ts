/**
 * What a policy has asked for and not got yet: since when, for which reason, and how long such an answer usually takes. It follows
 * decisions and events by the table of answers, and needs nothing of a policy. What blocks what is said by `waits`; this adds times.
 */
import { z } from 'zod';
import { answers, sequels, unaskedAnswers } from '../schemas/answers.ts';
import type { EventMessage } from '../schemas/vocabulary.ts';
import type { AnyDecision, AnyEvent } from './definition.ts';
import { savedTimes, WaitingTimes } from './waiting-times.ts';

/** A command, or a notice that a host answers unasked, without an answer so far. */
export interface OpenCommand {
  /** Type of the decision. */
  readonly type: string;
  /** Type of its usual answer. */
  readonly answer: string;
  /** Ids that the answer shares with it, by field. */
  readonly ids: Readonly<Record<string, string>>;
  /** Time of the decision, for a timer its time to fire, in seconds. */
  readonly since: number;
  /** Id of the engine or worker that carries it out, if it names one. */
  readonly by?: string | undefined;
  /** Its reason. */
  readonly reason: AnyDecision['reason'];
}

/** How long an answer usually takes. */
export interface UsualTime {
  /** Median, in seconds. */
  readonly medianSeconds: number;
  /** Time that 99 percent of the answers do not exceed, in seconds. */
  readonly highSeconds: number;
  /** Number of answers from which this was learnt; older ones weigh less. */
  readonly answers: number;
}

const openCommand = z.strictObject({
  type: z.string(),
  answer: z.string(),
  ids: z.record(z.string(), z.string()),
  since: z.number(),
  by: z.string().optional(),
  reason: z.looseObject({ code: z.string() }),
});
/** Schema of {@link OpenCommands} in a state. */
export const savedOpenCommands = z.strictObject({
  open: z.array(openCommand),
  times: z.array(z.strictObject({ answer: z.string(), times: savedTimes })),
});
export type SavedOpenCommands = z.output<typeof savedOpenCommands>;

/** How a decision is answered: its usual answer first, each answer with the ids that it shares with the decision. */
interface Rule {
  readonly answer: string;
  readonly fields: readonly string[];
  readonly others: readonly string[];
  /** Those of the others that are the usual answer of another command. */
  replaces: readonly string[];
}

/** Most notices without an answer that are remembered. */
const mostUnasked = 4096;
/** Most commands without an answer that are remembered, where nothing else is said. */
const mostOpen = 131_072;

type Json = Readonly<Record<string, unknown>>;

/** What a policy hears and tells: a definition, or a part of one. */
export interface Messages {
  readonly events: readonly EventMessage[];
  readonly decisions: readonly EventMessage[];
}

const fieldsOf = (messages: readonly EventMessage[], type: string): readonly string[] =>
  Object.keys((messages.find((one) => one.type === type)?.schema as z.ZodObject | undefined)?.shape ?? {});

/** Returns the rules of the messages, by the type of a decision. */
function rulesOf({ events, decisions }: Messages): Map<string, Rule> {
  const rules = new Map<string, Rule>();
  const all: Readonly<Record<string, readonly string[]>> = { ...answers, ...unaskedAnswers, ...sequels };
  for (const { type } of [...decisions, ...events]) {
    const heard = (all[type] ?? []).filter((answer) => events.some((one) => one.type === answer));
    const [answer, ...others] = heard;
    if (answer === undefined) continue;
    // A new round has a new id.
    const shared = answer === 'round.requested' ? [] : fieldsOf(events, answer);
    const fields = fieldsOf([...decisions, ...events], type).filter(
      (name) => name.endsWith('Id') && shared.includes(name),
    );
    rules.set(type, { answer, fields, others, replaces: [] });
  }
  const usual = new Set([...rules.values()].map(({ answer }) => answer));
  for (const rule of rules.values()) rule.replaces = rule.others.filter((one) => usual.has(one));
  return rules;
}

/** Returns what tells a command from others with the same answer. Nearly always this is one id, as it is: a joined text costs more than all else here. */
function keyOf(fields: readonly string[], message: Json): string {
  if (fields.length === 1) return String(message[fields[0]!]);
  let key = '';
  for (const name of fields) key += `\n${String(message[name])}`;
  return key;
}

/** The commands with the same answer, by {@link keyOf}. */
type Table = Map<string, Kept>;

/** A command, where it is kept, and its number in the order in which commands came. */
interface Kept {
  readonly one: OpenCommand;
  readonly table: Table;
  readonly key: string;
  readonly order: number;
}

/** Hears of each command that is opened, and that ends. */
export interface CommandFollower {
  opened(one: OpenCommand): void;
  /** @param isAnswered - whether an event has answered it; otherwise it was replaced, or forgotten */
  ended(one: OpenCommand, isAnswered: boolean): void;
  /** Returns the longest time that may be learnt from the wait of a command, in seconds; called before it ends. */
  longest(one: OpenCommand): number;
}

/** Follows the commands of one policy. Each message costs O(1), and the memory is bounded. */
export class OpenCommands {
  /** By the usual answer. */
  readonly #tables = new Map<string, Table>();
  #size = 0;
  #count = 0;
  /** Notices that a host may answer unasked. Many hosts answer none of a kind: without a follower only the latest are kept. */
  readonly #unasked = new Set<Kept>();
  readonly #times = new Map<string, WaitingTimes>();
  readonly #rules: ReadonlyMap<string, Rule>;
  /** By the type of an event: the rules of the waits that it ends. */
  readonly #ends = new Map<string, Rule[]>();
  readonly #most: number;
  readonly #follower: CommandFollower | undefined;

  /**
   * @param most - most commands that are remembered; the oldest are forgotten first
   * @param follower - hears of every change from now on
   */
  constructor(messages: Messages, most = mostOpen, saved?: SavedOpenCommands, follower?: CommandFollower) {
    this.#most = most;
    this.#follower = follower;
    this.#rules = rulesOf(messages);
    for (const rule of this.#rules.values()) {
      for (const event of [rule.answer, ...rule.others]) {
        const ends = this.#ends.get(event) ?? [];
        // Commands with the same answer, such as to launch and to resume a request, are one wait.
        const isSame = (one: Rule): boolean => one.answer === rule.answer && one.fields.join() === rule.fields.join();
        if (!ends.some(isSame)) ends.push(rule);
        this.#ends.set(event, ends);
      }
    }
    for (const one of saved?.open ?? []) {
      // The keys of a saved object may be in any order.
      const fields = this.#rules.get(one.type)?.fields ?? Object.keys(one.ids);
      const ids = Object.fromEntries(fields.map((name) => [name, one.ids[name]!]));
      this.#set(one.answer, keyOf(fields, ids), { ...one, ids });
    }
    for (const { answer, times } of saved?.times ?? []) this.#times.set(answer, new WaitingTimes(times));
  }

  /** The commands without an answer, oldest first. */
  get open(): Iterable<OpenCommand> {
    return this.#inOrder().map(({ one }) => one);
  }

  /** Follows an event that was applied, and then the decisions that it has led to. */
  follow(event: AnyEvent, decisions: readonly AnyDecision[], at: number): void {
    this.heard(event, at);
    for (const one of decisions) this.told(one);
  }

  /** Follows an event that was applied, before the decisions that it leads to. */
  heard(event: AnyEvent, at: number): void {
    if (event.type === 'host.restarted') this.#restarted();
    else if (event.type === 'engine.lost' || event.type === 'reward-worker.lost') this.#forget(event as never);
    for (const { answer, fields } of this.#ends.get(event.type) ?? []) {
      const kept = this.#tables.get(answer)?.get(keyOf(fields, event as never));
      if (kept === undefined) continue;
      this.#learn(kept.one, at);
      this.#end(kept, true);
    }
    if (Object.hasOwn(sequels, event.type)) this.told({ ...event, at, reason: { code: 'reported' } });
  }

  /** Forgets the command that an event would answer: it is not owed any more. The event needs only the fields that say which one. */
  forget(event: { readonly type: string }): void {
    for (const { answer, fields } of this.#ends.get(event.type) ?? [])
      this.#end(this.#tables.get(answer)?.get(keyOf(fields, event as never)));
  }

  /** Follows a decision. Its time and its reason are kept, or others that are given. */
  told(decision: AnyDecision, at = decision.at, reason = decision.reason): void {
    const rule = this.#rules.get(decision.type);
    if (rule === undefined) return;
    const { answer, fields, replaces } = rule;
    const given = decision as AnyDecision & Json;
    // Its answer also answers the command that it replaces: a request that is aborted is not expected to complete.
    const key = keyOf(fields, given);
    for (const other of replaces) {
      const replaced = this.#tables.get(other)?.get(key);
      if (replaced === undefined) continue;
      // A follower looks for what is too long: without these, only the times of short responses would be learnt.
      if (this.#follower !== undefined) this.#learn(replaced.one, at);
      this.#end(replaced);
    }
    this.#end(this.#tables.get(answer)?.get(key));
    const by = given.engineId ?? given.workerId;
    const ids: Record<string, string> = {};
    for (const name of fields) ids[name] = String(given[name]);
    // A timer is awaited from its time on.
    const since = typeof given.fireAtSeconds === 'number' ? given.fireAtSeconds : at;
    const { type } = decision;
    const one: OpenCommand =
      typeof by === 'string' ? { type, answer, ids, since, by, reason } : { type, answer, ids, since, reason };
    this.#set(answer, key, one);
    this.#follower?.opened(one);
    if (this.#unasked.size > mostUnasked) this.#end(this.#unasked.values().next().value);
    if (this.#size > this.#most) this.#end(this.#oldest());
  }

  /** Returns the command that an event would answer. The event needs only the fields that say which one it is. */
  answeredBy(event: { readonly type: string }): OpenCommand | undefined {
    for (const { answer, fields } of this.#ends.get(event.type) ?? []) {
      const kept = this.#tables.get(answer)?.get(keyOf(fields, event as never));
      if (kept !== undefined) return kept.one;
    }
    return undefined;
  }

  /** Returns how long answers of this type usually take; `undefined` before the first one. */
  usual(answer: string): UsualTime | undefined {
    const times = this.#times.get(answer);
    if (times === undefined) return undefined;
    return { medianSeconds: times.quantile(0.5), highSeconds: times.quantile(0.99), answers: times.weight };
  }

  save(): SavedOpenCommands {
    return {
      open: [...this.open].map((one) => ({ ...one, ids: { ...one.ids }, reason: { ...one.reason } })),
      times: [...this.#times].map(([answer, times]) => ({ answer, times: times.save() })),
    };
  }

  /** Forgets what was asked for: it is asked for anew. What has no ids, such as the next round, is owed as before. */
  #restarted(): void {
    for (const kept of this.#inOrder()) if (Object.keys(kept.one.ids).length > 0) this.#end(kept);
  }

  /** Forgets what an engine or a worker was told that is lost; the policy tells others. */
  #forget({ engineId, workerId }: { readonly engineId?: string; readonly workerId?: string }): void {
    const by = engineId ?? workerId;
    for (const kept of this.#inOrder()) if (kept.one.by === by) this.#end(kept);
  }

  #inOrder(): Kept[] {
    return [...this.#tables.values()].flatMap((table) => [...table.values()]).sort((a, b) => a.order - b.order);
  }

  #oldest(): Kept | undefined {
    let oldest: Kept | undefined;
    for (const table of this.#tables.values()) {
      const first = table.values().next().value;
      if (first !== undefined && (oldest === undefined || first.order < oldest.order)) oldest = first;
    }
    return oldest;
  }

  #set(answer: string, key: string, one: OpenCommand): void {
    let table = this.#tables.get(answer);
    if (table === undefined) this.#tables.set(answer, (table = new Map()));
    const kept = { one, table, key, order: this.#count++ };
    table.set(key, kept);
    this.#size += 1;
    if (this.#follower === undefined && Object.hasOwn(unaskedAnswers, one.type)) this.#unasked.add(kept);
  }

  #end(kept: Kept | undefined, isAnswered = false): void {
    if (kept === undefined) return;
    kept.table.delete(kept.key);
    this.#size -= 1;
    this.#unasked.delete(kept);
    this.#follower?.ended(kept.one, isAnswered);
  }

  #learn(one: OpenCommand, at: number): void {
    const { answer } = one;
    const seconds = Math.min(at - one.since, this.#follower?.longest(one) ?? Number.POSITIVE_INFINITY);
    let times = this.#times.get(answer);
    if (times === undefined) this.#times.set(answer, (times = new WaitingTimes()));
    times.add(Math.max(0, seconds));
  }
}
