/** The only clock of the server. */

/** A source of the time, and of timers. */
export interface Clock {
  /** Returns the Unix time, in seconds. */
  now(): number;
  /** Calls back after some seconds, >= 0. Returns a function that cancels the callback. */
  after(seconds: number, callback: () => void): () => void;
  /** Calls back after pending input and output. */
  soon(callback: () => void): void;
}

/** Longer waits are split, because timers of the platform count milliseconds in 31 bits. */
const longestSeconds = 2_000_000;

/** The clock of the machine. */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now() / 1000,
  after(seconds: number, callback: () => void) {
    let cancel: () => void;
    const handle = setTimeout(
      () => {
        if (seconds <= longestSeconds) callback();
        else cancel = systemClock.after(seconds - longestSeconds, callback);
      },
      Math.ceil(Math.min(seconds, longestSeconds) * 1000),
    );
    cancel = () => clearTimeout(handle);
    return () => cancel();
  },
  soon: (callback: () => void) => void setImmediate(callback),
});
