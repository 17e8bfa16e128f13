/** Going on with a run until it is done, stopped, or out of time; its file is written now and then. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import ora from 'ora';

/** A run that goes on step by step. */
export interface Advancing {
  /** Events, or seeds, so far. */
  readonly done: number;
  readonly isDone: boolean;
  advance(): void | Promise<void>;
  save(): void;
}

/** How long it goes on, and what it is to come to. */
export interface Limits {
  readonly events: number;
  /** What is counted, if not events. */
  readonly what?: string;
  readonly seconds?: number;
  readonly saveSeconds: number;
}

/** Advances a run. Throws where a law is broken. */
export async function advanceAll(
  run: Advancing,
  { events, what = 'events', seconds: most, saveSeconds }: Limits,
): Promise<void> {
  const show = process.stderr.isTTY === true && process.stderr.columns > 0;
  const spinner = ora({ isEnabled: show, isSilent: !show, text: 'long run' }).start();
  const [begun, from] = [performance.now(), run.done];
  const seconds = (): number => (performance.now() - begun) / 1000;
  let isStopped = false;
  const stop = (): void => void (isStopped = true);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  let saved = 0;
  try {
    while (!run.isDone && !isStopped && seconds() < (most ?? Number.POSITIVE_INFINITY)) {
      await run.advance();
      if (seconds() - saved >= saveSeconds) {
        run.save();
        saved = seconds();
      }
      const rate = (run.done - from) / seconds();
      const left = Math.ceil((events - run.done) / rate);
      spinner.text = `${run.done.toLocaleString('en')} of ${events.toLocaleString('en')} ${what}, ${Math.round(rate).toLocaleString('en')} a second, about ${left} s left`;
      await nextTurn();
    }
  } finally {
    spinner.stop();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
  }
  run.save();
}
