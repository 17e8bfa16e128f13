/** Stands for your inference engines: it generates one token a millisecond. */

/** What the host needs of an engine. */
export interface Engine {
  /** Generates a response, and gives its number of tokens; undefined if it was aborted. */
  generate(requestId: string): Promise<number | undefined>;
  /** Stops a request, and gives the tokens that it had generated. */
  abort(requestId: string): number;
}

export class ToyEngine implements Engine {
  readonly #running = new Map<string, { readonly stop: () => void; readonly startedMs: number }>();

  generate(requestId: string): Promise<number | undefined> {
    // Every third prompt has responses that take ten times as long.
    const [prompt, index] = (/(\d+)\/(\d+)#/.exec(requestId) ?? []).slice(1).map(Number);
    const tokens = (prompt! % 3 === 2 ? 200 : 20) + 5 * index!;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#running.delete(requestId);
        resolve(tokens);
      }, tokens);
      const stop = (): void => {
        clearTimeout(timer);
        resolve(undefined);
      };
      this.#running.set(requestId, { stop, startedMs: performance.now() });
    });
  }

  abort(requestId: string): number {
    const request = this.#running.get(requestId);
    if (request === undefined) return 0;
    this.#running.delete(requestId);
    request.stop();
    return Math.floor(performance.now() - request.startedMs);
  }
}
