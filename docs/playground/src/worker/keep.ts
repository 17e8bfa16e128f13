/**
 * Keeps what was simulated for the update before, so that a baseline which a slider does not touch is not simulated
 * again. Nothing older: what a slider moves is always simulated anew.
 */
export class Keep {
  #now = new Map<string, unknown>();
  #before = new Map<string, unknown>();

  /** Begins an update. */
  next(): void {
    this.#before = this.#now;
    this.#now = new Map();
  }

  /** What has this key, made if it is not kept. The key says all that it depends on. */
  get<T>(key: string, make: () => T): T {
    const value = this.#now.has(key) ? this.#now.get(key) : this.#before.has(key) ? this.#before.get(key) : make();
    this.#now.set(key, value);
    return value as T;
  }
}

/** Keeps the last few things that were made. */
export class Recent {
  readonly #known = new Map<string, unknown>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  get<T>(key: string, make: () => T): T {
    const value = this.#known.has(key) ? this.#known.get(key) : make();
    this.#known.delete(key);
    this.#known.set(key, value);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= this.#most) break;
      this.#known.delete(oldest);
    }
    return value as T;
  }
}
