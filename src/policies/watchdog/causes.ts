/** Who owes what: open commands by their cause, which is an engine, a worker, or a kind of answer whose sender has no id. */

import { type Linked, LinkedList } from '../../core/collections/linked-list.ts';
import type { OpenCommand } from '../../core/why/command-table.ts';
import { type Sender, senderOf } from '../../schemas/senders.ts';

/** A command without an answer, with the cause of the delay. */
export interface Owing extends Linked<Owing> {
  readonly one: OpenCommand;
  readonly cause: Cause;
  /** The queue of the command until the command is named separately. */
  readonly queue: LinkedList<Owing>;
  isNamed: boolean;
}

/** A cause, with the commands whose answers it owes. */
export interface Cause {
  readonly key: string;
  readonly sender: Sender;
  /** Id of the engine, worker, node or replica. */
  readonly by: string | undefined;
  /** Owed commands that were not named separately, by type of command, oldest first. */
  readonly queues: Map<string, LinkedList<Owing>>;
  /** Owed commands that were named separately. */
  readonly named: Set<Owing>;
  /** Number of answers that the cause owes. */
  owed: number;
  /** Time of the latest answer, in seconds; 0 if none has come since the cause owes something. */
  heardAt: number;
  /** Whether the cause is named as a whole: meanwhile its commands are not named separately. */
  isNamed: boolean;
  /** Time at which the cause answered again after it was named: owed answers get time anew. */
  freshAt: number;
  /** Limit beyond which an answer was named last, in seconds; named answers do not raise usual times. */
  namedAfter: number;
}

/** Timers run out in an order of their own, so each timer is a cause. */
function keyOf(one: OpenCommand): string {
  const { answer, by } = one;
  if (by !== undefined) return `${senderOf(answer)}\n${by}`;
  return answer === 'timer.fired' ? `${answer}\n${one.ids.timerId}` : answer;
}

const byKey = (one: Cause, other: Cause): number => (one.key < other.key ? -1 : 1);

/** Returns what a cause owes and was not named by itself, by the type of the command, in the order of these types. */
export const queuesOf = ({ queues }: Cause): LinkedList<Owing>[] =>
  [...queues]
    .filter(([, { size }]) => size > 0)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, queue]) => queue);

/** Returns how many answers of a type are owed, and how many of them are overdue, or wait with their cause. */
export interface Count {
  owed: number;
  overdue: number;
}

/** The causes that owe something. Every operation is O(1), apart from going through all causes. */
export class Causes {
  readonly #all = new Map<string, Cause>();

  /** All causes, in the order of their keys. */
  [Symbol.iterator](): Iterator<Cause> {
    return [...this.#all.values()].sort(byKey)[Symbol.iterator]();
  }

  get size(): number {
    return this.#all.size;
  }

  get(key: string): Cause | undefined {
    return this.#all.get(key);
  }

  add(one: OpenCommand): Owing {
    const key = keyOf(one);
    let cause = this.#all.get(key);
    if (cause === undefined) {
      const { answer, by } = one;
      const fresh = { owed: 0, heardAt: 0, isNamed: false, freshAt: 0, namedAfter: 0 };
      cause = { key, sender: senderOf(answer), by, queues: new Map(), named: new Set(), ...fresh };
      this.#all.set(key, cause);
    }
    let queue = cause.queues.get(one.type);
    if (queue === undefined) cause.queues.set(one.type, (queue = new LinkedList()));
    const owing: Owing = { one, cause, queue, isNamed: false, previous: null, next: null };
    // A request that was launched before others may begin on an engine after them.
    queue.insert(owing, (it, other) => it.one.order < other.one.order);
    cause.owed += 1;
    return owing;
  }

  /** Removes a command. Its cause stays until {@link prune}, because another command may replace it. */
  remove(owing: Owing): void {
    const { cause, queue, isNamed } = owing;
    if (isNamed) cause.named.delete(owing);
    else queue.remove(owing);
    cause.owed -= 1;
  }

  /** Forgets a cause that owes nothing. */
  prune({ key, owed }: Cause): void {
    if (owed === 0) this.#all.delete(key);
  }

  /** Counts what is owed, by the type of the answer. The cost grows with the causes, and with what was named by itself. */
  counts(areAllNamed: boolean): Map<string, Count> {
    const counts = new Map<string, Count>();
    const add = (answer: string, owed: number, isOverdue: boolean): void => {
      let count = counts.get(answer);
      if (count === undefined) counts.set(answer, (count = { owed: 0, overdue: 0 }));
      count.owed += owed;
      if (isOverdue) count.overdue += owed;
    };
    for (const cause of this.#all.values()) {
      const isOverdue = cause.isNamed || areAllNamed;
      for (const queue of queuesOf(cause)) add(queue.peek()!.one.answer, queue.size, isOverdue);
      for (const { one } of cause.named) add(one.answer, 1, true);
    }
    return counts;
  }

  /** Moves a command to those that were named separately. */
  name(owing: Owing): void {
    owing.queue.remove(owing);
    owing.isNamed = true;
    owing.cause.named.add(owing);
  }
}
