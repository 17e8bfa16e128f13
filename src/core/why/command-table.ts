/** Commands that wait for their answers, by key and in their order. */

import { type Linked, LinkedList } from '../collections/linked-list.ts';
import type { AnyDecision } from '../machine/definition.ts';
import type { WaitingTimes } from './waiting-times.ts';
import type { AwaitedEvent } from './waits.ts';

/** A command, or a notice that some hosts answer unasked, without an answer so far. */
export interface OpenCommand {
  /** Type of the decision. */
  readonly type: string;
  /** Type of the usual answer. */
  readonly answer: string;
  /** Ids that the answer shares with the decision, by field. */
  readonly ids: Readonly<Record<string, string>>;
  /** Time of the decision in seconds; for a timer, the time at which it fires. */
  readonly since: number;
  /** Id of the engine, worker, node or replica that carries out the decision, if the decision names one. */
  readonly by?: string | undefined;
  /** Reason of the decision. */
  readonly reason: AnyDecision['reason'];
  /** Number of the try, if the decision and its answers tell one try from another. */
  readonly attempt?: number | undefined;
  /** Where an answer may come in portions: the number that is still missing. */
  readonly missing?: number | undefined;
  /** Number in the order of commands. */
  readonly order: number;
}

/** Returns the wait for the answer to a command. */
export const awaitedOf = ({ answer, ids, since, by }: OpenCommand): AwaitedEvent => ({
  event: { type: answer, ...ids },
  by,
  ...(answer === 'timer.fired' ? { dueAt: since } : { since }),
});

export type Json = Readonly<Record<string, unknown>>;

/**
 * Returns the key that tells a command from others with the same answer. The key is nearly always a single id, unchanged, because
 * joining texts would cost more than everything else here.
 */
export function keyOf(fields: readonly string[], message: Json): string {
  if (fields.length === 1) return String(message[fields[0]!]);
  let key = '';
  for (const name of fields) key += `\n${String(message[name])}`;
  return key;
}

/** Most notices per kind that are remembered before the first answer to the kind: many hosts never answer notices. */
export const mostUnasked = 1024;

/**
 * A command and its place in the table. Most commands are never looked at, so the other fields are made only when they are read.
 */
export class TrackedCommand<Mark> implements OpenCommand, Linked<TrackedCommand<Mark>> {
  previous: TrackedCommand<Mark> | null = null;
  next: TrackedCommand<Mark> | null = null;
  /** The mark that the follower has set. */
  mark: Mark | undefined = undefined;
  readonly table: Table<Mark>;
  readonly type: string;
  readonly key: string;
  readonly since: number;
  by: string | undefined;
  readonly reason: OpenCommand['reason'];
  /** Number in the order of commands. */
  readonly order: number;
  /** Number still missing, where an answer may bring some. */
  missing: number | undefined = undefined;
  attempt: number | undefined = undefined;
  readonly #ids: string | OpenCommand['ids'];

  /** @param ids - all ids, or the name of the field whose value is the key */
  constructor(
    table: Table<Mark>,
    type: string,
    key: string,
    ids: string | OpenCommand['ids'],
    since: number,
    by: string | undefined,
    reason: OpenCommand['reason'],
    order: number,
  ) {
    this.table = table;
    this.type = type;
    this.key = key;
    this.since = since;
    this.by = by;
    this.reason = reason;
    this.order = order;
    this.#ids = ids;
  }

  get answer(): string {
    return this.table.answer;
  }

  get ids(): OpenCommand['ids'] {
    return typeof this.#ids === 'string' ? { [this.#ids]: this.key } : this.#ids;
  }
}

/** Commands with the same answer, such as launching and resuming a request: they share one wait. */
export class Table<Mark> {
  readonly answer: string;
  readonly byKey = new Map<string, TrackedCommand<Mark>>();
  /** The same, oldest first. The first key of a map from which many were deleted takes long to find. */
  readonly inOrder = new LinkedList<TrackedCommand<Mark>>();
  times: WaitingTimes | undefined = undefined;
  /** The latest commands that nobody waits for, oldest first. Their ids are looked up only on request. */
  #hoped: TrackedCommand<Mark>[] = [];
  #hopedByKey: Map<string, TrackedCommand<Mark>> | undefined;

  constructor(answer: string) {
    this.answer = answer;
  }

  /** Whether answers are only hoped for. */
  get isHoped(): boolean {
    return this.times === undefined && this.#hoped.length > 0;
  }

  /** Notices of a kind that was never answered so far. */
  get hoped(): readonly TrackedCommand<Mark>[] {
    return this.times === undefined ? this.#hoped : [];
  }

  hope(command: TrackedCommand<Mark>): void {
    this.#hopedByKey = undefined;
    this.#hoped.push(command);
    if (this.#hoped.length > 2 * mostUnasked) this.#hoped = this.#hoped.slice(-mostUnasked);
  }

  hopedFor(key: string): TrackedCommand<Mark> | undefined {
    this.#hopedByKey ??= new Map(this.#hoped.map((command) => [command.key, command]));
    return this.#hopedByKey.get(key);
  }
}
