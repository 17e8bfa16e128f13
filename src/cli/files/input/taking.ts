/** Gives the records of a file to a collector: what of a damaged line is whole is taken, and what is not is counted. */
import { isPolicyError, type PolicyError, refuse } from '../../../errors.ts';
import type { DumpImport } from '../../../sim/trace/import/import.ts';
import { type Damaged, damagedLine, isJson } from './damage.ts';
import { damages, type FileNotes } from './notes.ts';
import type { InputFile } from './paths.ts';
import { deepest, type InputRecord, type TextRecord } from './records.ts';

/** Fields that say the step of a row. */
const ownStep = /step|iteration|rollout_id/i;

/** Takes the records of a file. */
export class Taking {
  readonly #lines: DumpImport;
  readonly #file: InputFile;
  readonly #notes: FileNotes;
  readonly #skipBroken: boolean;
  /** The step for its rows; undefined before the first row. */
  #step: { readonly of: number | undefined } | undefined;

  constructor(lines: DumpImport, file: InputFile, notes: FileNotes, skipBroken: boolean) {
    [this.#lines, this.#file, this.#notes, this.#skipBroken] = [lines, file, notes, skipBroken];
    lines.line('', file.name, 1, file.step);
  }

  /** Takes a record. Throws as {@link DumpImport.line} does, and `limit_exceeded` for JSON that is nested too deeply. */
  take(record: InputRecord): void {
    try {
      if ('row' in record) this.#lines.row(record.row, this.#file.name, record.number, this.#stepOf(record));
      else this.#takeText(record);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      const where = `${this.#file.name}:${record.number}`;
      refuse('limit_exceeded', where, `JSON of at most ${deepest} levels`, 'a deeper nesting', error);
    }
  }

  #stepOf(record: InputRecord): number | undefined {
    const { step, likelyStep } = this.#file;
    if (step !== undefined || likelyStep === undefined) return step;
    if (this.#step === undefined) {
      const names = 'row' in record ? Object.keys(record.row).join() : record.text;
      this.#step = { of: ownStep.test(names) ? undefined : likelyStep };
    }
    return this.#step.of;
  }

  #line(text: string, record: TextRecord): void {
    this.#lines.line(text, this.#file.name, record.number, this.#stepOf(record));
  }

  #takeText(record: TextRecord): void {
    const { text, isUnended = false } = record;
    // What is skipped does not come back as an error.
    const looked = (this.#skipBroken || isUnended) && !isJson(text) ? damagedLine(text) : undefined;
    if (looked !== undefined) return this.#takeDamaged(looked, record);
    try {
      this.#line(text, record);
    } catch (error) {
      if (!isPolicyError(error) || error.code !== 'invalid_input') throw error;
      if (isUnended && isCutRow(error)) return this.#notes.damage('cutLine', this.#where(record), 1);
      const damaged = isJson(text) ? undefined : damagedLine(text);
      if (damaged === undefined) throw error;
      this.#takeDamaged(damaged, record);
    }
  }

  #where({ number }: TextRecord): string {
    return `${this.#file.name}:${number}`;
  }

  /** Takes what is whole. Throws `invalid_input` where something is not, unless the file ends there or broken lines are skipped. */
  #takeDamaged({ what, whole, lost }: Damaged, record: TextRecord): void {
    const isEnd = what === 'cutLine' && record.isUnended === true;
    if (lost > 0 && !isEnd && !this.#skipBroken) {
      const got = what === 'cutLine' ? 'a line that ends in the middle' : damages[what];
      refuse('invalid_input', this.#where(record), 'a whole line (--skip-broken leaves it out, and counts it)', got);
    }
    this.#notes.damage(what, this.#where(record), lost);
    for (const text of whole) this.#line(text, record);
  }
}

/** Whether the error is that of a row of CSV that ends early. */
const isCutRow = ({ expected }: PolicyError): boolean => / cells, as in the header$/.test(expected);
