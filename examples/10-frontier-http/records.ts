/** A file of JSON lines that is only ever appended to. A line that a dying process has left half is passed over. */
import { existsSync, readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** The lines of a file, oldest first; none if there is no file. */
export function readRecords<T>(path: string): T[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return line === '' ? [] : [JSON.parse(line) as T];
      } catch {
        return [];
      }
    });
}

/** Appends lines. Each is on disk when its promise is fulfilled. */
export class Records<T> {
  readonly #file: FileHandle;
  #last: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open<T>(path: string): Promise<Records<T>> {
    const file = await open(path, 'a');
    // Behind a half line a whole one would be lost, too.
    await file.appendFile('\n');
    return new Records<T>(file);
  }

  append(record: T): Promise<void> {
    const line = `${JSON.stringify(record)}\n`;
    this.#last = this.#last.then(async () => {
      await this.#file.appendFile(line);
      await this.#file.datasync();
    });
    return this.#last;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#file.close();
  }
}
