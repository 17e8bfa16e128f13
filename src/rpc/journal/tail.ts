/**
 * Notes the end of the log in a second file. A log whose end was cut off opens like a log whose last writes were prevented by a
 * crash; but a write that is noted in the second file was on the disk, so a crash cannot have prevented it.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { chain } from './chain.ts';

/** The latest write of the store. */
export interface Tail {
  /** Number of writes to the store so far. */
  readonly writes: number;
  /** Sum of the last seals of all sessions after this write. */
  readonly seals: string;
}

/** The second file, from the point of view of the tail. */
export interface TailFile {
  /** Returns the contents; `undefined` without a file. */
  read(): string | undefined;
  /** Makes the file with these contents. Returns when it is on the disk. */
  create(text: string): void;
  /** Writes a part, which the system brings to the disk at some time. */
  write(text: string, at: number): void;
  /**
   * Records on the disk that the store has lost writes: no server opens the store before an operator has accepted the loss, and
   * then with an empty note. Refuses with `snapshot_mismatch`.
   */
  lost(what: string): never;
}

/** Two slots are written in turn, each in its own sector, so that one of them is intact after every crash. */
const slotBytes = 512;
const slots = 2;
const nothing: Tail = { writes: 0, seals: '0' };
/** A note that fits to every store. */
export const emptyNote = slotOf(nothing).repeat(slots);

/** The note of the last write that was on the disk. */
export class TailNote {
  readonly #file: TailFile;
  #slot = 0;

  constructor(file: TailFile) {
    this.#file = file;
  }

  /**
   * Compares a store with its note, and makes the note if there is none. Call it before the first write.
   *
   * @param found - the last write in the store; the default stands for a store without writes
   * @param isNoted - whether there must be a note; an earlier format has none
   * @throws PolicyError `snapshot_mismatch` if the store has lost writes that were on the disk, or if the note is missing
   */
  open(found: Tail = nothing, isNoted: boolean): void {
    const noted = this.#read();
    const loss = isNoted || noted !== undefined ? lossOf(found, noted) : undefined;
    if (loss === undefined && noted !== undefined) return;
    if (loss !== undefined) this.#file.lost(loss);
    this.#file.create(emptyNote);
  }

  /** Notes a write that is on the disk. */
  write(tail: Tail): void {
    this.#file.write(slotOf(tail), this.#slot * slotBytes);
    this.#slot = (this.#slot + 1) % slots;
  }

  #read(): Tail | undefined {
    const text = this.#file.read() ?? '';
    let last: Tail | undefined;
    for (let slot = 0; slot < slots; slot += 1) {
      const tail = tailIn(text.slice(slot * slotBytes, (slot + 1) * slotBytes));
      if (tail === undefined || tail.writes < (last?.writes ?? 0)) continue;
      last = tail;
      this.#slot = (slot + 1) % slots;
    }
    return last;
  }
}

function lossOf(found: Tail, noted: Tail | undefined): string | undefined {
  if (noted === undefined) return 'the note of its last write is missing or unreadable';
  const { writes } = noted;
  if (found.writes < writes)
    return `the last ${writes - found.writes} of ${writes} writes are missing, and were on the disk`;
  const isOther = found.writes === writes && writes > 0 && found.seals !== noted.seals;
  return isOther ? `write ${writes} is another than the one that was on the disk` : undefined;
}

function slotOf({ writes, seals }: Tail): string {
  const text = `${writes} ${seals}`;
  return `${chain.stored(chain.seal('', text), text)}\n`.padEnd(slotBytes, ' ');
}

function tailIn(slot: string): Tail | undefined {
  const [writes, seals] = chain.opened('', slot.slice(0, slot.indexOf('\n')))?.text.split(' ') ?? [];
  return seals === undefined ? undefined : { writes: Number(writes), seals };
}

/** Opens the second file of a store in a directory. */
export function tailFile(path: string): Omit<TailFile, 'lost'> & { close(): void } {
  let file = existsSync(path) ? openSync(path, 'r+') : undefined;
  const close = (): void => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };
  return {
    read: () => (file === undefined ? undefined : readFileSync(path, 'latin1')),
    create(text) {
      close();
      file = openSync(path, 'w', 0o600);
      writeSync(file, text, 0, 'latin1');
      fsyncSync(file);
      syncDirectory(dirname(path));
    },
    write: (text, at) => void writeSync(file!, text, at, 'latin1'),
    close,
  };
}

/** Brings the names of new files to the disk. Windows has no such call. */
function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const handle = openSync(directory, 'r');
  fsyncSync(handle);
  closeSync(handle);
}
