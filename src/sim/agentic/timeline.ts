/** What an engine does, in stretches of equal length. */

/** What an engine did in a stretch of time. */
export interface EngineStretch {
  /** Seconds in which it computed contexts that were not in its cache. */
  readingSeconds: number;
  /** Seconds in which it generated tokens. */
  decodingSeconds: number;
  /** Mean of the turns that it generated for meanwhile. */
  running: number;
}

/** Adds up what an engine does. */
export class EngineTimeline {
  readonly stretches: EngineStretch[] = [];
  readonly #seconds: number;

  /** @param seconds - length of a stretch, above 0 */
  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  /** Adds an activity to the stretches in which it was. */
  add(startSeconds: number, endSeconds: number, isReading: boolean, running: number): void {
    for (let at = startSeconds; at < endSeconds; ) {
      let index = Math.floor(at / this.#seconds);
      // The end of a stretch may be rounded to a time inside it.
      if ((index + 1) * this.#seconds <= at) index += 1;
      const until = Math.min(endSeconds, (index + 1) * this.#seconds);
      while (this.stretches.length <= index) this.stretches.push({ readingSeconds: 0, decodingSeconds: 0, running: 0 });
      const stretch = this.stretches[index]!;
      const seconds = until - at;
      if (isReading) stretch.readingSeconds += seconds;
      else {
        const before = stretch.decodingSeconds;
        stretch.decodingSeconds += seconds;
        stretch.running += ((running - stretch.running) * seconds) / (before + seconds);
      }
      at = until;
    }
  }
}
