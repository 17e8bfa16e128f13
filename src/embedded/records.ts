/** Records that outlive the process: the host of the engine writes them before it passes on an answer. */
import { Records } from '../rpc/journal/records.ts';
import type { Seals } from '../rpc/journal/seals.ts';
import { numberIn } from '../rpc/journal/session-journal.ts';
import type { Operation } from '../rpc/journal/store.ts';

/** The store of the host has its own, faster checksums; here a single digit only marks that a session exists. */
const hostSeals: Seals = Object.freeze({
  seal: () => '1',
  stored: (_: string, text: string) => text,
  opened: (_: string, text: string) => ({ seal: '1', text }),
  unchecked: (text: string) => ({ seal: '1', text }),
});

interface Deleted {
  readonly first: string;
  last: string;
}

/** Records that the host has not taken yet. */
export class PendingRecords extends Records {
  #waiting: (Extract<Operation, { type: 'put' }> | Deleted)[] = [];

  constructor(version: string, snapshotEvents: number) {
    super({ version, snapshotEvents }, hostSeals);
  }

  append(operation: Operation): void {
    if (operation.type === 'put') {
      this.#waiting.push(operation);
      return;
    }
    const { key } = operation;
    const before = this.#waiting.at(-1);
    // Records of a session are deleted in order, the first one first.
    if (before !== undefined && 'last' in before && numberIn(before.last) === numberIn(key)) before.last = key;
    else this.#waiting.push({ first: key, last: key });
  }

  /**
   * Returns the writes since the last call, as lines; apply all of them or none: `+key`, a tab and a record; `-first`, a tab and
   * `last` for records to delete. The last line is the record of the store itself. Returns an empty text if there is nothing to
   * write.
   */
  take(): string {
    if (this.#waiting.length === 0 && !this.hasDue) return '';
    this.append(this.last());
    const lines = this.#waiting.map((one) =>
      'last' in one ? `-${one.first}\t${one.last}` : `+${one.key}\t${one.value}`,
    );
    this.#waiting = [];
    return lines.join('\n');
  }
}
