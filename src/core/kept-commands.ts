/** Commands that wait for their answers, by what tells them apart, and in their order. */
import { type Linked, LinkedList } from './linked-list.ts';
import type { OpenCommand } from './open-commands.ts';
import type { WaitingTimes } from './waiting-times.ts';

/** A command, with its place. Most are never looked at: what can be made later is. */
export class Kept<Mark> implements OpenCommand, Linked<Kept<Mark>> {
  previous: Kept<Mark> | null = null;
  next: Kept<Mark> | null = null;
  /** What the follower has made of it; absent while the follower is not told of it. */
  mark: Mark | undefined = undefined;
  readonly type: string;
  readonly table: Table<Mark>;
  readonly key: string;
  readonly since: number;
  readonly by: string | undefined;
  readonly reason: OpenCommand['reason'];
  /** Number in the order in which commands came. */
  readonly order: number;
  /** Whether nobody asks for the answer, and none of its type has come: then it is not awaited. */
  isHoped: boolean;
  readonly #ids: string | OpenCommand['ids'];

  /** @param ids - name of the field whose value is the key, or all ids */
  constructor(
    table: Table<Mark>,
    key: string,
    ids: string | OpenCommand['ids'],
    { type, since, by, reason }: Pick<OpenCommand, 'type' | 'since' | 'by' | 'reason'>,
    order: number,
    isHoped: boolean,
  ) {
    this.type = type;
    this.table = table;
    this.key = key;
    this.since = since;
    this.by = by;
    this.reason = reason;
    this.order = order;
    this.isHoped = isHoped;
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
  readonly byKey = new Map<string, Kept<Mark>>();
  /** The same, oldest first. The first key of a map from which many were deleted takes long to find. */
  readonly inOrder = new LinkedList<Kept<Mark>>();
  times: WaitingTimes | undefined = undefined;

  constructor(answer: string) {
    this.answer = answer;
  }
}
