/** A disk that keeps what a store must keep, and loses what it may lose. */
import { refuse } from '../../../src/errors.ts';
import { metaKey } from '../../../src/rpc/journal/records.ts';
import { numberIn } from '../../../src/rpc/journal/session-journal.ts';
import type { Operation, Store } from '../../../src/rpc/journal/store.ts';
import type { TailFile } from '../../../src/rpc/journal/tail.ts';
import type { Life, World } from './world.ts';

/** A write that the store has taken, and what was in memory when it began. */
export interface Write<Mark> {
  readonly operations: readonly Operation[];
  readonly mark: Mark;
}

/** Who knows what is in memory, and hears what of it is kept. */
export interface DiskBooks<Mark> {
  /** What is in memory now. */
  mark(): Mark;
  /** What was in memory then is written; `isDurable` if also the end of the machine keeps it. */
  kept(mark: Mark, isDurable: boolean): void;
}

/** How well a disk behaves. */
export interface DiskManners {
  /** Writes in a thousand that take seconds. */
  readonly stalls: number;
  /** Writes in a thousand that fail. */
  readonly failures: number;
}

/** How a write is damaged that a store should have kept. */
export type Damage = 'lost' | 'torn' | 'reordered' | 'flipped' | 'cut';

/** What of an image is sealed: all but the numbers of records, and the version and the counts in the store's own record. */
function sealed(image: ReadonlyMap<string, string>): string {
  const parts = [...image].map(([key, value]) => (key === metaKey ? JSON.parse(value).seals : numberIn(key) + value));
  return parts.sort().join('\n');
}

/** Number of the last write in an image. */
const writesIn = (image: ReadonlyMap<string, string>): number =>
  JSON.parse(image.get(metaKey) ?? '{"writes":0}').writes;

/** Bytes that reach the disk together. */
const sectorBytes = 512;

/** The second file of a store: what is written to it reaches the disk some time later. */
class Note {
  #durable: string | undefined;
  #current: string | undefined;

  /** Number of the last write that it names, now. */
  get writes(): number {
    const named = [...(this.#current ?? '').matchAll(/^[0-9a-f]{16}(\d+) /gm)];
    return Math.max(0, ...named.map(([, writes]) => Number(writes)));
  }

  /** @param isTrial - the store is one that must be refused: the disk stays as it is */
  open(isTrial: boolean): TailFile {
    return {
      read: () => this.#current,
      create: (text) => {
        if (!isTrial) [this.#durable, this.#current] = [text, text];
      },
      write: (text, at) => {
        if (!isTrial) this.#current = this.#current!.slice(0, at) + text + this.#current!.slice(at + text.length);
      },
      lost: (what) => refuse('snapshot_mismatch', 'stateDir', 'a whole store', what),
    };
  }

  /** Each sector is the new or the old one. */
  crash(isMachine: boolean, isKept: () => boolean): void {
    const [old, now] = [this.#durable, this.#current];
    if (isMachine && old !== undefined && now !== undefined) {
      let text = '';
      for (let at = 0; at < now.length; at += sectorBytes) text += (isKept() ? now : old).slice(at, at + sectorBytes);
      this.#current = text;
    }
    this.#durable = this.#current;
  }
}

/** The disk under the stores of successive processes. A write is atomic at this interface, as LevelDB promises. */
export class Disk<Mark> {
  manners: DiskManners = { stalls: 0, failures: 0 };
  readonly #world: World;
  readonly #books: DiskBooks<Mark>;
  readonly #writes: Write<Mark>[] = [];
  /** Writes from the first on that a crash of the machine keeps. */
  #durable = 0;
  readonly #note = new Note();
  #pending: { readonly write: Write<Mark>; readonly sync: boolean }[] = [];

  constructor(world: World, books: DiskBooks<Mark>) {
    this.#world = world;
    this.#books = books;
  }

  /** What a store holds after so many writes. */
  image(writes: readonly Write<Mark>[] = this.#writes): Map<string, string> {
    const image = new Map<string, string>();
    for (const { operations } of writes) {
      for (const one of operations) {
        if (one.type === 'put') image.set(one.key, one.value);
        else image.delete(one.key);
      }
    }
    return image;
  }

  /** A store for a process. @param damaged - what it holds instead: nothing is written then */
  open(life: Life, damaged?: ReadonlyMap<string, string>): Store {
    const image = damaged ?? this.image();
    const world = this.#world;
    const [durable, written] = [this.#durable, this.#writes];
    let isBroken = false;
    const queue: (() => void)[] = [];
    const next = (): void => {
      queue.shift();
      queue[0]?.();
    };
    return {
      write: (operations, sync) =>
        new Promise((resolve, reject) => {
          if (damaged !== undefined) return;
          const one = { write: { operations: [...operations], mark: this.#books.mark() }, sync };
          this.#pending.push(one);
          const begin = (): void => {
            const stalls = world.chance(this.manners.stalls);
            if (stalls) world.count('stalled write');
            const seconds = stalls ? world.seconds(1, 40) : world.seconds(0.0005, sync ? 0.02 : 0.002);
            world.after(seconds, `disk ${written.length} ${operations.length}${sync ? ' sync' : ''}`, done, life);
          };
          const done = (): void => {
            this.#pending.splice(this.#pending.indexOf(one), 1);
            if (!isBroken && world.chance(this.manners.failures)) {
              isBroken = true;
              world.count('failed write');
            }
            // A write that fails may have reached the disk, or not.
            if (!isBroken || world.chance(500)) this.#take(one.write, sync && !isBroken);
            if (isBroken) reject(new Error('disk full'));
            else resolve();
            next();
          };
          queue.push(begin);
          if (queue.length === 1) begin();
        }),
      async *entries() {
        const all = [...image].sort(([a], [b]) => (a < b ? -1 : 1));
        for (const [at, one] of all.entries()) {
          if (at % 16 === 0) await world.sleep(world.seconds(0, 0.01), 'disk read', life);
          yield one;
        }
      },
      tail: this.#note.open(damaged !== undefined),
      close: () => world.sleep(0.001, `disk close ${durable}`, life),
    };
  }

  #take(write: Write<Mark>, isDurable: boolean): void {
    this.#writes.push(write);
    if (isDurable) this.#durable = this.#writes.length;
    this.#books.kept(write.mark, isDurable);
  }

  /**
   * The process dies, or the whole machine. A write in flight is applied whole or not at all; a machine also loses any suffix of the
   * writes that were not synced. Returns what was in memory at the last write that is left; nothing if none is.
   */
  crash(isMachine: boolean): Mark | undefined {
    for (const { write } of this.#pending.splice(0)) {
      if (this.#world.chance(500)) break;
      this.#writes.push(write);
    }
    const before = this.#writes.length;
    if (isMachine) this.#writes.length = this.#durable + this.#world.below(this.#writes.length - this.#durable + 1);
    this.#note.crash(isMachine, () => this.#world.chance(500));
    if (this.#writes.length < before) this.#world.count('lost writes');
    // What is there now is read at the start, and so on the disk.
    this.#durable = this.#writes.length;
    this.#world.note(`disk keeps ${this.#writes.length}`);
    return this.#writes.at(-1)?.mark;
  }

  /** What a disk would hold that breaks its promise; nothing if there is too little to break. */
  damaged(kind: Damage): Map<string, string> | undefined {
    const world = this.#world;
    const last = this.#writes.length - 1;
    if (last < 1) return undefined;
    if (kind === 'cut') {
      const image = this.image(this.#writes.slice(0, -1 - world.below(last)));
      return writesIn(image) < this.#note.writes ? image : undefined;
    }
    const at = Math.max(0, last - 1 - world.below(8));
    const { operations, mark } = this.#writes[at]!;
    const writes = [...this.#writes];
    if (kind === 'lost') writes.splice(at, 1);
    else if (kind === 'torn') {
      const kept = world.below(operations.length);
      writes[at] = { operations: operations.slice(0, kept), mark };
    } else if (kind === 'reordered') [writes[at], writes[at + 1]] = [writes[at + 1]!, writes[at]!];
    const image = this.image(writes);
    if (kind === 'flipped') {
      // The store's own record is not sealed: a wrong number in it may be taken.
      if (image.size === 1) return undefined;
      const [key, value] = world.pick([...image].filter(([name]) => name !== metaKey));
      const place = world.below(value.length);
      image.set(key, `${value.slice(0, place)}${value[place] === '0' ? '1' : '0'}${value.slice(place + 1)}`);
    }
    // A store that has the writes up to some earlier one is whole, unless the note tells of a later one.
    const isWhole = this.#writes.some(
      (_, end) => end >= at && sealed(image) === sealed(this.image(this.#writes.slice(0, end + 1))),
    );
    return isWhole && writesIn(image) >= this.#note.writes ? undefined : image;
  }
}
