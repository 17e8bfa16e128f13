/** The GPUs that a judge shares with the actor, in the judge's view. */
import { refuse } from '../../errors.ts';
import type { SharedGpus } from '../rewards/judges.ts';
import type { EnginePool } from './engines/engine-pool.ts';
import type { Hardware } from './hardware.ts';

/** GPUs of engines, by number. A row of several GPUs is as slow as its slowest GPU. */
export class ColocatedGpus implements SharedGpus {
  readonly #pool: EnginePool;
  readonly #hardware: Hardware;
  readonly #perRow: number;
  readonly #factors: number[] = [];

  /** @param perRow - GPUs per row of the pool */
  constructor(pool: EnginePool, hardware: Hardware, perRow: number) {
    this.#pool = pool;
    this.#hardware = hardware;
    this.#perRow = perRow;
  }

  isBusy(gpu: number): boolean {
    return this.#pool.isBusy(Math.floor(gpu / this.#perRow));
  }

  slow(gpu: number, factor: number, at: number): void {
    this.#factors[gpu] = factor;
    const row = Math.floor(gpu / this.#perRow);
    let slowest = 1;
    for (let index = row * this.#perRow; index < (row + 1) * this.#perRow; index += 1) {
      slowest = Math.max(slowest, this.#factors[index] ?? 1);
    }
    this.#pool.slow(row, slowest, at);
  }

  reserve(bytes: number, at: number): void {
    const { kvBytesPerToken, costs, maxResponseTokens } = this.#hardware;
    const { kvCapacityTokens, gpus } = costs[0]!.cost;
    const least = Math.floor(((kvCapacityTokens - maxResponseTokens) * kvBytesPerToken) / gpus);
    if (bytes > least) {
      const expected = `at most ${least} bytes: the longest response must fit the KV cache beside the judge`;
      refuse('infeasible', 'rewards.judge', expected, bytes);
    }
    this.#pool.reserve(bytes / kvBytesPerToken, at);
  }
}
