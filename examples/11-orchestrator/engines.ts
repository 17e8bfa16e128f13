/** The inference engines of the job: SGLang's routes, health, weights. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Generated, SglangClient } from '../10-frontier-http/sglang-client.ts';

/** One engine, as the orchestrator sees it. */
export class Engine {
  readonly engineId: string;
  readonly #url: string;
  readonly #client: SglangClient;
  isUp = true;

  constructor(engineId: string, url: string) {
    this.engineId = engineId;
    this.#url = url;
    this.#client = new SglangClient(url);
  }

  generate(requestId: string, text: string, samplingSeed: number, signal: AbortSignal): Promise<Generated> {
    return this.#client.generate({ requestId, text, samplingSeed, maxNewTokens: 2000 }, signal);
  }

  /** Asks for the end of a request, if the engine is there. */
  async abort(requestId: string): Promise<void> {
    if (this.isUp) await this.#client.abort(requestId).catch(() => {});
  }

  async updateWeights(version: number): Promise<void> {
    await this.#client.updateWeights(version);
  }

  async isHealthy(): Promise<boolean> {
    try {
      return (await fetch(`${this.#url}/health`, { signal: AbortSignal.timeout(1000) })).ok;
    } catch {
      return false;
    }
  }

  /** Waits until it is there again. It has lost its weights. */
  async comesBack(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !(await this.isHealthy())) await sleep(20);
  }
}
