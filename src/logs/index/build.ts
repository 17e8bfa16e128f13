/** Makes the segments of a log's index from the log's files, in one pass. */
import { isPolicyError } from '../../errors.ts';
import { Building } from './building.ts';
import { linesIn } from './lines.ts';
import type { BuildContext, BuiltFile } from './played.ts';
import type { Segment } from './segment.ts';

/** A segment, and whether it is complete: the last segment of a file continues when the file grows. */
export interface Built {
  readonly segment: Segment;
  readonly isWhole: boolean;
}

/** Makes the segments of a file from an offset on, as far as the file goes; later it goes on from there. */
export class FileBuilding {
  readonly #file: BuiltFile;
  readonly #context: BuildContext;
  #segment: Building;
  #lines: number;

  /** @param before - lines of the file before the offset */
  constructor(file: BuiltFile, context: BuildContext, from: number, before: number) {
    this.#file = file;
    this.#context = context;
    this.#lines = before;
    this.#segment = new Building(file, context, from, before);
  }

  /** Offset of the first byte that was not read. */
  get to(): number {
    return this.#segment.to;
  }

  /** Reads new lines. Throws `invalid_input` for a broken line, with its file and number. */
  *grow(): Generator<Built> {
    const { name, file, grain } = this.#file;
    this.#segment.torn = false;
    for (const line of linesIn(name, file, this.to)) {
      try {
        this.#segment.take(line, this.#lines + 1);
      } catch (error) {
        if (line.ended || !isPolicyError(error)) throw error;
        // The line is still being written, or its writer was killed.
        this.#segment.torn = true;
        break;
      }
      this.#lines += 1;
      if (line.to - this.#segment.from < grain.segment) continue;
      yield { segment: this.#segment.finish(this.#lines, false), isWhole: true };
      this.#segment = new Building(this.#file, this.#context, line.to, this.#lines);
    }
    const { isEmpty, torn, from } = this.#segment;
    if (!isEmpty || torn || from === 0) yield { segment: this.#segment.finish(this.#lines, true), isWhole: false };
  }
}
