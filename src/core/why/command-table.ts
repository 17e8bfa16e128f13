/** Commands that wait for their answers, by what tells them apart, and in their order. */

import { type Linked, LinkedList } from '../collections/linked-list.ts';
import type { AnyDecision } from '../machine/definition.ts';
import type { WaitingTimes } from './waiting-times.ts';

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
  /** Number of prompts that it still waits for, if it asks for prompts. */
  readonly missing?: number | undefined;
}

/** Most notices of a kind that are remembered while none of the kind was answered: many hosts never answer any. */
export const mostUnasked = 1024;

/** A command, with its place. Most are never looked at: what can be made later is. */
export class TrackedCommand<Mark> implements OpenCommand, Linked<TrackedCommand<Mark>> {
  previous: TrackedCommand<Mark> | null = null;
  next: TrackedCommand<Mark> | null = null;
  /** What the follower has made of it. */
  mark: Mark | undefined = undefined;
  readonly table: Table<Mark>;
  readonly type: string;
  readonly key: string;
  readonly since: number;
  readonly by: string | undefined;
  readonly reason: OpenCommand['reason'];
  /** Number in the order in which commands came. */
  readonly order: number;
  /** Prompts that are still to come, where an answer may bring a part of them. */
  missing: number | undefined = undefined;
  readonly #ids: string | OpenCommand['ids'];

  /** @param ids - name of the field whose value is the key, or all ids */
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

/** The commands with the same answer: they are one wait, such as to launch and to resume a request. */
export class Table<Mark> {
  readonly answer: string;
  readonly byKey = new Map<string, TrackedCommand<Mark>>();
  /** The same, oldest first. The first key of a map from which many were deleted takes long to find. */
  readonly inOrder = new LinkedList<TrackedCommand<Mark>>();
  times: WaitingTimes | undefined = undefined;
  /** The latest that nobody waits for, oldest first. Their ids are looked up only where somebody asks. */
  #hoped: TrackedCommand<Mark>[] = [];
  #hopedByKey: Map<string, TrackedCommand<Mark>> | undefined;

  constructor(answer: string) {
    this.answer = answer;
  }

  /** Whether answers are only hoped for. */
  get isHoped(): boolean {
    return this.times === undefined && this.#hoped.length > 0;
  }

  /** Those that are hoped for, while none of the kind was answered. */
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
