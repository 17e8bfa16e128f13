/** Progress of a long command on the terminal, and its handling of Ctrl-C and Ctrl-Z. */
import { setImmediate as turn } from 'node:timers/promises';
import ora, { type Ora } from 'ora';
import { oneLine } from '../core/printable.ts';
import { Interrupted, interruptible } from './interrupt.ts';
import { exitCodes, say } from './output.ts';

/** Characters of a bar: with the text beside it, less than half of a narrow terminal. */
const barCells = 24;

/** Texts of a progress display. */
export interface ProgressOptions {
  /** The activity of the command, shown until its progress is known. */
  readonly text: string;
  /** Whether nothing is shown. */
  readonly isQuiet: boolean;
  /** The message for the user after Ctrl-C. */
  readonly stopped?: string;
}

/** Shown on a terminal only, until it is stopped. */
export class Progress {
  readonly #spinner: Ora;
  readonly #stopped: string | undefined;
  readonly #text: string;
  readonly #begun = performance.now();
  readonly #leave = (): void => this.#interrupted();

  constructor({ text, isQuiet, stopped }: ProgressOptions) {
    // A pseudo-terminal without a size has 0 columns, which would make the spinner count its lines forever.
    const isShown = process.stderr.isTTY === true && process.stderr.columns > 0 && !isQuiet;
    this.#stopped = stopped;
    this.#text = oneLine(text);
    this.#spinner = ora({
      isEnabled: isShown,
      isSilent: !isShown,
      text: oneLine(text),
      // In raw mode the terminal sends no signals: Ctrl-Z would do nothing, and Ctrl-C only between two steps.
      discardStdin: false,
      // A process that hides the cursor must show it again, also when it is suspended or killed.
      hideCursor: false,
    }).start();
    process.on('SIGINT', this.#leave);
  }

  /** Share of the work that is done, 0 to 1: shown as a bar with the time left. */
  set done(share: number) {
    const seconds = (performance.now() - this.#begun) / 1000;
    const full = Math.round(share * barCells);
    const bar = `${'█'.repeat(full)}${'░'.repeat(barCells - full)}`;
    // At first it is not known how long a task takes: traces are read, and code is not yet compiled.
    const left = share < 0.04 ? '' : `, about ${Math.ceil((seconds * (1 - share)) / share)} s left`;
    this.#spinner.text = `${this.#text} ${bar} ${Math.floor(100 * share)}%${left}`;
  }

  /** The text that is shown from now on. */
  set text(text: string) {
    this.#spinner.text = oneLine(text);
  }

  /** Does a step of the work, which Ctrl-C ends at once, and lets the spinner turn. */
  async step<T>(work: () => T): Promise<T> {
    let done: T;
    try {
      done = interruptible(work);
    } catch (error) {
      if (error instanceof Interrupted) this.#interrupted();
      throw error;
    }
    await turn();
    return done;
  }

  stop(): void {
    process.off('SIGINT', this.#leave);
    this.#spinner.stop();
  }

  #interrupted(): never {
    this.stop();
    if (this.#stopped !== undefined) say(this.#stopped);
    process.exit(exitCodes.interrupted);
  }
}
