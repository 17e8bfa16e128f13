/**
 * Shows the progress of a long command on standard error, and handles Ctrl-C and Ctrl-Z: on a terminal one line that changes, and
 * elsewhere a line every few seconds.
 */
import { setImmediate as turn } from 'node:timers/promises';
import ora, { type Ora } from 'ora';
import { oneLine } from '../../core/ids/printable.ts';
import { Interrupted, interruptible } from './interrupt.ts';
import { exitCodes, say } from './output.ts';

/** Characters of a bar; with its text, it takes less than half of a narrow terminal. */
const barCells = 24;
/** Seconds before the first line without a terminal, so that quick commands stay silent, and between lines. */
const lineSeconds = { first: 5, next: 5 } as const;
/** At first the duration of a task is not known: files are read, and code is not yet compiled. */
const leastKnown = 0.04;

/** Texts of a progress display. */
export interface ProgressOptions {
  /** The activity of the command, shown until a progress is known. */
  readonly text: string;
  /** Whether the display is off. */
  readonly isQuiet: boolean;
  /** Returns the message for the user after Ctrl-C. */
  readonly stopped?: () => string | undefined;
}

/** What is shown. */
export interface Shown {
  /** The activity. */
  readonly text: string;
  /** Share of the work that is done, 0 to 1. */
  readonly share?: number | undefined;
  readonly secondsLeft?: number | undefined;
  /** What is known already. */
  readonly found?: string | undefined;
}

/** Whether a command shows no progress: where it was asked not to, and on a terminal that shows its JSON. */
export const isSilent = ({ quiet, json }: { readonly quiet?: boolean; readonly json?: boolean }): boolean =>
  quiet === true || (json === true && process.stderr.isTTY === true);

/** Whether lines are written where there is no terminal. */
const areLinesWanted = (): boolean => process.env.ROLLFLEX_PROGRESS !== 'off';

/** A progress display; no other output shows it. */
export class Progress {
  readonly #spinner: Ora;
  readonly #stopped: (() => string | undefined) | undefined;
  readonly #begun = performance.now();
  readonly #leave = (): void => this.#interrupted();
  /** Writes lines while threads work; absent on a terminal and if the display is off. */
  readonly #lines: NodeJS.Timeout | undefined;
  #toldAt = 0;
  #shown: Shown;

  constructor({ text, isQuiet, stopped }: ProgressOptions) {
    // A pseudo-terminal without a size has 0 columns, which would make the spinner count its lines forever.
    const isShown = process.stderr.isTTY === true && process.stderr.columns > 0 && !isQuiet;
    this.#stopped = stopped;
    this.#shown = { text: oneLine(text) };
    this.#spinner = ora({
      isEnabled: isShown,
      isSilent: !isShown,
      text: oneLine(text),
      // In raw mode the terminal sends no signals: Ctrl-Z would do nothing, and Ctrl-C would act only between two steps.
      discardStdin: false,
      // A process that hides the cursor must show it again, even if the process is suspended or killed.
      hideCursor: false,
    }).start();
    if (!isShown && !isQuiet && areLinesWanted()) this.#lines = setInterval(() => this.#tell(), 1000).unref();
    process.on('SIGINT', this.#leave);
  }

  /** Sets the share of the work that is done, 0 to 1: the display shows a bar and the time left. */
  set done(share: number) {
    const seconds = (performance.now() - this.#begun) / 1000;
    const secondsLeft = share < leastKnown ? undefined : (seconds * (1 - share)) / share;
    this.show({ text: this.#shown.text, share, secondsLeft });
  }

  /** The text that is shown from now on. */
  set text(text: string) {
    this.show({ text });
  }

  /** Shows what is done, and what is left. */
  show(shown: Shown): void {
    this.#shown = shown;
    const { text, share, secondsLeft, found } = shown;
    const full = Math.round((share ?? 0) * barCells);
    const bar = share === undefined ? '' : ` ${'█'.repeat(full)}${'░'.repeat(barCells - full)}`;
    this.#spinner.text = oneLine(
      `${text}${bar}${inWords(share, secondsLeft)}${found === undefined ? '' : `; ${found}`}`,
    );
    this.#tell();
  }

  /** Writes what is shown now as a line, if lines are written. */
  tellNow(): void {
    this.#toldAt = 0;
    this.#tell(0);
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
    clearInterval(this.#lines);
    this.#spinner.stop();
  }

  #tell(first: number = lineSeconds.first): void {
    if (this.#lines === undefined) return;
    const now = performance.now();
    const since = (now - (this.#toldAt || this.#begun)) / 1000;
    if (since < (this.#toldAt === 0 ? first : lineSeconds.next)) return;
    this.#toldAt = now;
    const { text, share, secondsLeft, found } = this.#shown;
    say(
      `${text}${share === undefined ? ` (${Math.round((now - this.#begun) / 1000)} s)` : ':'}${inWords(share, secondsLeft)}${found === undefined ? '' : `; ${found}`}`,
    );
  }

  #interrupted(): never {
    this.stop();
    const stopped = this.#stopped?.();
    if (stopped !== undefined) say(stopped);
    process.exit(exitCodes.interrupted);
  }
}

function inWords(share: number | undefined, secondsLeft: number | undefined): string {
  if (share === undefined) return '';
  const left = secondsLeft === undefined ? '' : `, about ${Math.ceil(secondsLeft)} s left`;
  return ` ${Math.floor(100 * share)}%${left}`;
}
