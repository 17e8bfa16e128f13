/**
 * The projection of gpu-scale-down once more, as its README says it: one request after the other. For lengths so short that a bin is one
 * number.
 */
import type { RunningRequest } from '../../../src/schemas/index.ts';

const sum = <T>(items: readonly T[], of: (item: T) => number): number => items.reduce((all, one) => all + of(one), 0);

/** The share of requests that reach a length. */
interface Curve {
  at(tokens: number): number;
}

/** What is known of the future of requests. */
export class Projection {
  readonly #curve: Curve | undefined;
  readonly #maxTokens: number;
  /** Every second time until the last of all requests has reached the cap, and that time. */
  readonly #times: readonly number[];

  constructor(curve: Curve | undefined, maxTokens: number, all: readonly RunningRequest[]) {
    this.#curve = curve;
    this.#maxTokens = maxTokens;
    const longest = Math.max(0, ...all.map(({ tokens }) => maxTokens - tokens));
    this.#times = Array.from({ length: longest + 1 }, (_, time) => time).filter(
      (time) => time === 0 || time % 2 === 1 || time === longest,
    );
  }

  /** The chance that a request is still there; it has one more token to go at least, and ends at the cap. */
  #chance({ tokens }: RunningRequest, time: number): number {
    if (tokens + time > this.#maxTokens) return 0;
    if (this.#curve === undefined) return 1;
    return Math.min(1, this.#curve.at(tokens + time) / this.#curve.at(Math.min(tokens + 1, this.#maxTokens)));
  }

  /** Tokens that it is expected to hold. */
  #weight(request: RunningRequest, time: number): number {
    return this.#chance(request, time) * (request.promptTokens + request.tokens + time);
  }

  #mean(requests: readonly RunningRequest[], time: number): number {
    return sum(requests, (one) => this.#weight(one, time));
  }

  /** The most tokens that requests are expected to hold together; without a history, the most that they can hold at any time. */
  expected(requests: readonly RunningRequest[]): number {
    const ends = requests.map(({ tokens }) => this.#maxTokens - tokens);
    const times = this.#curve === undefined ? ends : this.#times;
    return Math.max(0, ...times.map((time) => this.#mean(requests, time)));
  }

  /** The peak of an engine at so many standard deviations; without a history, all run to the cap. */
  peak(requests: readonly RunningRequest[], deviations: number): number {
    if (this.#curve === undefined) return this.expected(requests);
    const holds = (one: RunningRequest, time: number) => one.promptTokens + one.tokens + time;
    const at = (time: number): number => {
      const there = requests.filter((one) => one.tokens + time <= this.#maxTokens);
      const spread = (one: RunningRequest) => this.#chance(one, time) * (1 - this.#chance(one, time));
      const variance = sum(there, (one) => spread(one) * holds(one, time) ** 2);
      return Math.min(
        sum(there, (one) => holds(one, time)),
        this.#mean(there, time) + deviations * Math.sqrt(variance),
      );
    };
    return Math.max(0, ...this.#times.map(at));
  }
}
