/** What is in flight on an engine, grouped by the length reached: enough for the projection. */
import { binOf } from '../../core/survival.ts';

// Requests are put together where their lengths differ by an eighth at most.
const binsPerGroup = 2;

/** The group of a request that has generated so many tokens. */
export function groupOf(tokens: number, maxTokens: number): number {
  return Math.floor(binOf(tokens < maxTokens ? tokens : maxTokens) / binsPerGroup);
}

/** How many groups there are. */
export function groupCount(maxTokens: number): number {
  return groupOf(maxTokens, maxTokens) + 1;
}

/** Requests on one engine, by group. */
export class EngineLoad {
  readonly count: Float64Array;
  /** Sum of the tokens in the KV cache, prompt and response. */
  readonly kv: Float64Array;
  /** Sum of their squares. */
  readonly kvSquared: Float64Array;

  constructor(groups: number) {
    this.count = new Float64Array(groups);
    this.kv = new Float64Array(groups);
    this.kvSquared = new Float64Array(groups);
  }

  add(group: number, kvTokens: number): void {
    this.count[group]! += 1;
    this.kv[group]! += kvTokens;
    this.kvSquared[group]! += kvTokens * kvTokens;
  }

  /** Adds all that another has. */
  addAll(other: EngineLoad): void {
    for (let group = 0; group < this.count.length; group += 1) {
      this.count[group]! += other.count[group]!;
      this.kv[group]! += other.kv[group]!;
      this.kvSquared[group]! += other.kvSquared[group]!;
    }
  }

  /** Tokens in the KV cache now. */
  kvTokens(): number {
    let sum = 0;
    for (let group = 0; group < this.kv.length; group += 1) sum += this.kv[group]!;
    return sum;
  }
}
