/** Records the activity of an engine in stretches of equal length. */

/** Activity of an engine during a stretch of time. */
export interface EngineStretch {
  /** Seconds of computing contexts that were not in the cache. */
  readingSeconds: number;
  /** Seconds of generating tokens. */
  decodingSeconds: number;
  /** Mean number of generating turns. */
  running: number;
}

/** Adds up the activity of an engine. */
export class EngineTimeline {
  readonly stretches: EngineStretch[] = [];
  readonly #seconds: number;

  /** @param seconds - length of a stretch, above 0 */
  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  /** Adds an activity to the stretches that it overlaps. */
  add(startSeconds: number, endSeconds: number, isReading: boolean, running: number): void {
    for (let at = startSeconds; at < endSeconds; ) {
      let index = Math.floor(at / this.#seconds);
      // Rounding may place the end of a stretch inside the stretch.
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
