/** Shows the progress of a long command on the terminal, and handles Ctrl-C and Ctrl-Z. */
import { setImmediate as turn } from 'node:timers/promises';
import ora, { type Ora } from 'ora';
import { oneLine } from '../../core/ids/printable.ts';
import { Interrupted, interruptible } from './interrupt.ts';
import { exitCodes, say } from './output.ts';

/** Characters of a bar; with its text, it takes less than half of a narrow terminal. */
const barCells = 24;

/** Texts of a progress display. */
export interface ProgressOptions {
  /** The activity of the command, shown until a progress is known. */
  readonly text: string;
  /** Whether the display is off. */
  readonly isQuiet: boolean;
  /** The message for the user after Ctrl-C. */
  readonly stopped?: string;
}

/** A progress display on a terminal; no other output shows it. */
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
      // In raw mode the terminal sends no signals: Ctrl-Z would do nothing, and Ctrl-C would act only between two steps.
      discardStdin: false,
      // A process that hides the cursor must show it again, even if the process is suspended or killed.
      hideCursor: false,
    }).start();
    process.on('SIGINT', this.#leave);
  }

  /** Sets the share of the work that is done, 0 to 1: the display shows a bar and the time left. */
  set done(share: number) {
    const seconds = (performance.now() - this.#begun) / 1000;
    const full = Math.round(share * barCells);
    const bar = `${'█'.repeat(full)}${'░'.repeat(barCells - full)}`;
    // At first the duration of a task is not known: traces are read, and code is not yet compiled.
    const left = share < 0.04 ? '' : `, about ${Math.ceil((seconds * (1 - share)) / share)} s left`;
    this.#spinner.text = `${this.#text} ${bar} ${Math.floor(100 * share)}%${left}`;
  }

  /** The text that is shown from now on. */
  set text(text: string) {
    this.#spinner.text = oneLine(text);
  }

  /** Does a step of the work, which Ctrl-C ends at once, and then updates the spinner. */
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
