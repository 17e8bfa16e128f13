/**
 * What a host must not forget: its state, and the tasks that it has taken on. Both stand in one file, which is replaced
 * at once, and a task is begun only after the file that names it is on disk.
 */
import { existsSync, readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What the file says. */
export interface Saved<State, Task> {
  readonly state: State;
  /** Tasks that are not known to be done, by their keys, in the order in which they were taken on. */
  readonly tasks: readonly (readonly [key: string, task: Task])[];
}

/** Reads the file of an earlier process; `undefined` if there was none. */
export function readSaved<State, Task>(path: string): Saved<State, Task> | undefined {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Saved<State, Task>) : undefined;
}

/** Whoever owns the state. */
export interface Owner<State, Task> {
  /** The state as JSON. Called between events, never while one is being handled. */
  capture(): State;
  /** Begins a task that is on disk. Its end is told by {@link Durable.done}. */
  begin(key: string, task: Task): void;
  /** Everything is on disk, and nothing has changed since. */
  settled(): void;
  /** The disk has failed: nothing more is begun. */
  failed(error: unknown): void;
}

/** The state and the tasks of one process. */
export class Durable<State, Task> {
  readonly #path: string;
  readonly #owner: Owner<State, Task>;
  readonly #tasks = new Map<string, Task>();
  #fresh: { readonly key: string; readonly task: Task }[] = [];
  #changed = false;
  #writing = false;

  constructor(path: string, owner: Owner<State, Task>) {
    this.#path = path;
    this.#owner = owner;
  }

  /** Tasks that are not known to be done. */
  get tasks(): ReadonlyMap<string, Task> {
    return this.#tasks;
  }

  /** Puts back the tasks of an earlier process. They are begun, or are done, with the next change. */
  restore(tasks: Saved<State, Task>['tasks']): void {
    for (const [key, task] of tasks) {
      this.#tasks.set(key, task);
      this.#fresh.push({ key, task });
    }
  }

  /** Takes a task on; it is begun after the next write. One with the same key is replaced. */
  take(key: string, task: Task): void {
    this.#tasks.delete(key);
    this.#tasks.set(key, task);
    this.#fresh.push({ key, task });
    this.change();
  }

  /** A task is done, or not needed any more. */
  done(key: string): void {
    this.#tasks.delete(key);
    this.change();
  }

  /** The state has changed. Everything that changes in one turn of the event loop is written together. */
  change(): void {
    this.#changed = true;
    if (this.#writing) return;
    this.#writing = true;
    setImmediate(() => {
      this.#writeAll().catch((error: unknown) => this.#owner.failed(error));
    });
  }

  /** Goes on writing as long as something changes meanwhile. */
  async #writeAll(): Promise<void> {
    while (this.#changed) {
      this.#changed = false;
      const fresh = this.#fresh;
      this.#fresh = [];
      const saved: Saved<State, Task> = { state: this.#owner.capture(), tasks: [...this.#tasks] };
      await replaceFile(this.#path, JSON.stringify(saved));
      for (const { key, task } of fresh) {
        // What was done or replaced while the file was written is not begun.
        if (this.#tasks.get(key) === task) this.#owner.begin(key, task);
      }
    }
    this.#writing = false;
    this.#owner.settled();
  }
}

/** Replaces a file so that whoever reads it, at any moment, finds the old one or the new one. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const next = `${path}.next`;
  const file = await open(next, 'w');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(next, path);
  // The new name is on disk when its folder is.
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
