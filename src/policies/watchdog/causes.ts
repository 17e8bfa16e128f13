/** Who owes what: open commands by their cause, which is an engine, a worker, or a kind of answer whose sender has no id. */
import type { OpenCommand } from '../../core/open-commands.ts';
import { type Sender, senderOf } from '../../schemas/senders.ts';

/** A cause, with what it owes. */
export interface Cause {
  readonly key: string;
  readonly sender: Sender;
  /** Id of the engine or worker. */
  readonly by: string | undefined;
  /** What it owes and was not named by itself, by the type of the command, oldest first. */
  readonly queues: Map<string, Set<OpenCommand>>;
  /** What it owes and was named by itself. */
  readonly named: Set<OpenCommand>;
  /** Number of answers that it owes. */
  owed: number;
  /** Time when something has come from it last, in seconds; 0 if nothing has since it owes something. */
  heardAt: number;
  /** Whether it is named as a whole: nothing that it owes is named by itself meanwhile. */
  isNamed: boolean;
  /** Time when something came again after it was named: what it owes is given time anew. */
  freshAt: number;
  /** The limit beyond which something of it was named last, in seconds; what was named teaches no longer time. */
  namedAfter: number;
}

/** Timers run out in an order of their own, so each is a cause. */
function keyOf({ answer, by, ids }: OpenCommand): string {
  if (by !== undefined) return `${senderOf(answer)}\n${by}`;
  return answer === 'timer.fired' ? `${answer}\n${ids.timerId}` : answer;
}

const byKey = (one: Cause, other: Cause): number => (one.key < other.key ? -1 : 1);

/** Returns what a cause owes and was not named by itself, by the type of the command, in the order of these types. */
export const queuesOf = ({ queues }: Cause): Set<OpenCommand>[] =>
  [...queues].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, queue]) => queue);

/** How many answers of a type are owed, and how many of them are overdue, or wait with their cause. */
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

  of(one: OpenCommand): Cause {
    return this.#all.get(keyOf(one))!;
  }

  add(one: OpenCommand): Cause {
    const key = keyOf(one);
    let cause = this.#all.get(key);
    if (cause === undefined) {
      const { answer, by } = one;
      const fresh = { owed: 0, heardAt: 0, isNamed: false, freshAt: 0, namedAfter: 0 };
      cause = { key, sender: senderOf(answer), by, queues: new Map(), named: new Set(), ...fresh };
      this.#all.set(key, cause);
    }
    let queue = cause.queues.get(one.type);
    if (queue === undefined) cause.queues.set(one.type, (queue = new Set()));
    queue.add(one);
    cause.owed += 1;
    return cause;
  }

  /** Takes a command out. Its cause stays until {@link prune}, since another command may replace it. */
  remove(one: OpenCommand): Cause {
    const cause = this.of(one);
    if (!cause.named.delete(one)) {
      const queue = cause.queues.get(one.type)!;
      queue.delete(one);
      if (queue.size === 0) cause.queues.delete(one.type);
    }
    cause.owed -= 1;
    return cause;
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
    for (const { queues, named, isNamed } of this.#all.values()) {
      for (const queue of queues.values()) {
        const [{ answer }] = queue as unknown as [OpenCommand];
        add(answer, queue.size, isNamed || areAllNamed);
      }
      for (const { answer } of named) add(answer, 1, true);
    }
    return counts;
  }

  /** Moves a command to those that were named by themselves. */
  name(one: OpenCommand): void {
    const cause = this.remove(one);
    cause.named.add(one);
    cause.owed += 1;
  }
}
