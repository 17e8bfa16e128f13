/** A toy engine: it generates one token a millisecond for each request, and tells what is finished next. */

/** A response that is complete. */
export interface Finished {
  readonly requestId: string;
  readonly atSeconds: number;
  readonly tokens: number;
}

export class ToyEngine {
  readonly #running = new Map<string, { readonly startedSeconds: number; readonly tokens: number }>();

  get runningRequests(): number {
    return this.#running.size;
  }

  /** Starts a request that will generate this many tokens; only the toy knows that beforehand. */
  launch(requestId: string, tokens: number, atSeconds: number): void {
    this.#running.set(requestId, { startedSeconds: atSeconds, tokens });
  }

  /** Stops a request, and gives the tokens that it had generated; undefined if it does not run. */
  abort(requestId: string, atSeconds: number): number | undefined {
    const request = this.#running.get(requestId);
    this.#running.delete(requestId);
    return request && Math.floor((atSeconds - request.startedSeconds) * 1000);
  }

  /** The response that is complete next, taken out of the engine. */
  next(): Finished | undefined {
    let first: Finished | undefined;
    for (const [requestId, { startedSeconds, tokens }] of this.#running) {
      const atSeconds = startedSeconds + tokens / 1000;
      if (first === undefined || atSeconds < first.atSeconds) first = { requestId, atSeconds, tokens };
    }
    if (first !== undefined) this.#running.delete(first.requestId);
    return first;
  }
}
