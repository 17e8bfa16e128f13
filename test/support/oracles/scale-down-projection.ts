/**
 * The projection of gpu-scale-down once more, as its README says it: one request after the other, at every whole number
 * of tokens in the future. For lengths so short that the policy looks at each of these times, too.
 */
import { probit, upperTail } from '../../../src/policies/gpu-scale-down/normal.ts';
import type { SurvivalCurve } from '../../../src/policies/gpu-scale-down/survival.ts';
import type { RunningRequest } from '../../../src/schemas/index.ts';

const sum = <T>(items: readonly T[], of: (item: T) => number): number => items.reduce((all, one) => all + of(one), 0);

/** What an engine holds at a time: mean, deviation, a sixth of the skewness; with half a request more; with all of them. */
interface Held {
  readonly mean: number;
  readonly middle: number;
  readonly deviation: number;
  readonly tilt: number;
  readonly all: number;
}

/** What is known of the future of requests. */
export class Projection {
  readonly #curve: SurvivalCurve;
  readonly #maxTokens: number;
  /** Times until the last of all requests has reached the cap. */
  readonly #times: readonly number[];
  /** When all requests together are expected to hold most. */
  readonly busiest: number;

  constructor(curve: SurvivalCurve, maxTokens: number, all: readonly RunningRequest[]) {
    this.#curve = curve;
    this.#maxTokens = maxTokens;
    const longest = Math.max(0, ...all.map(({ tokens }) => maxTokens - tokens));
    this.#times = Array.from({ length: longest + 1 }, (_, time) => time);
    this.busiest = this.#times.reduce((best, time) => (this.mean(all, time) > this.mean(all, best) ? time : best), 0);
  }

  /** The chance that a request is still there; it has one more token to go at least, and ends at the cap. */
  #chance({ tokens }: RunningRequest, time: number): number {
    if (tokens + time > this.#maxTokens) return 0;
    return Math.min(1, this.#curve.at(tokens + time) / this.#curve.at(Math.min(tokens + 1, this.#maxTokens)));
  }

  /** How far that can be off, as the history is small (Greenwood). */
  #doubt(request: RunningRequest, time: number): number {
    const { tokens } = request;
    const known = this.#curve.variance(Math.min(tokens + 1, this.#maxTokens));
    return this.#chance(request, time) * Math.sqrt(Math.max(0, this.#curve.variance(tokens + time) - known));
  }

  /** Tokens that it is expected to hold. */
  weight(request: RunningRequest, time: number): number {
    return this.#chance(request, time) * (request.promptTokens + request.tokens + time);
  }

  mean(requests: readonly RunningRequest[], time: number): number {
    return sum(requests, (one) => this.weight(one, time));
  }

  #held(requests: readonly RunningRequest[], time: number): Held {
    const there = requests.filter((one) => this.#chance(one, time) > 0);
    const holds = (one: RunningRequest) => one.promptTokens + one.tokens + time;
    const spread = (one: RunningRequest) => this.#chance(one, time) * (1 - this.#chance(one, time));
    const doubt = sum(there, (one) => this.#doubt(one, time) * holds(one));
    const variance = sum(there, (one) => spread(one) * holds(one) ** 2) + doubt ** 2;
    // For the skewness, requests of one length hold the same.
    const third = sum(there, (one) => {
      const like = there.filter((other) => other.tokens === one.tokens);
      return spread(one) * (1 - 2 * this.#chance(one, time)) * (sum(like, holds) / like.length) ** 3;
    });
    const mean = this.mean(there, time);
    const all = sum(there, holds);
    return {
      mean,
      middle: mean + (there.length > 0 ? all / there.length / 2 : 0),
      deviation: Math.sqrt(variance),
      tilt: variance > 0 ? third / variance ** 1.5 / 6 : 0,
      all,
    };
  }

  /** How far the sum goes its own way from one time to the next. */
  #apart(requests: readonly RunningRequest[], time: number): number {
    if (time === 0) return 0;
    const both = this.#held(requests, time).deviation * this.#held(requests, time - 1).deviation;
    if (both === 0) return 0;
    const holds = (one: RunningRequest, at: number) => one.promptTokens + one.tokens + at;
    const doubt = (at: number) => sum(requests, (one) => this.#doubt(one, at) * holds(one, at));
    // Who is there at the later time was there at the earlier one.
    const common = sum(requests, (one) => {
      return this.#chance(one, time) * (1 - this.#chance(one, time - 1)) * holds(one, time) * holds(one, time - 1);
    });
    return 0.45 * Math.sqrt(Math.max(0, 1 - (common + doubt(time) * doubt(time - 1)) / both));
  }

  #quantile({ mean, middle, deviation, tilt, all }: Held, z: number): number {
    const bent = tilt < 0 ? Math.min(z, -1 / (2 * tilt)) : z;
    return Math.min(all, Math.max(mean, middle + deviation * (bent + tilt * (bent ** 2 - 1))));
  }

  /** The peak of an engine that is reached at z deviations. */
  peak(requests: readonly RunningRequest[], z: number): number {
    return Math.max(0, ...this.#times.map((time) => this.#quantile(this.#held(requests, time), z)));
  }

  /** The chance of an engine to go over so many tokens, at times when it can at all. */
  #over(requests: readonly RunningRequest[], tokens: number, times: readonly number[]): number {
    let most = 0;
    let come = 0;
    let before = 0;
    for (const time of times) {
      const { mean, middle, deviation, tilt, all } = this.#held(requests, time);
      if (tokens >= all) continue;
      if (tokens < mean) return 1;
      const level = tokens - middle;
      if (deviation === 0) {
        if (level < 0) return 1;
        continue;
      }
      const root = 1 + 4 * tilt * (level / deviation + tilt);
      if (root < 0) continue;
      const z = (2 * (level / deviation + tilt)) / (1 + Math.sqrt(root));
      come += Math.min(upperTail(z), before) * Math.min(1, z * this.#apart(requests, time));
      before = upperTail(z);
      most = Math.max(most, before);
    }
    return most + come;
  }

  /** The share of its capacity that each engine stays below, all of them together with the chance `quantile`. */
  fill(engines: readonly (readonly RunningRequest[])[], capacities: readonly number[], quantile: number): number {
    const shared = probit(1 - (1 - quantile) / (engines.length * 64));
    const peaks = engines.map((requests) => this.peak(requests, probit(quantile)));
    const times = engines.map((requests, at) =>
      this.#times.filter((time) => this.#quantile(this.#held(requests, time), shared) > peaks[at]!),
    );
    let low = Math.max(...peaks.map((peak, at) => peak / capacities[at]!));
    let high = Math.max(...engines.map((requests, at) => this.peak(requests, shared) / capacities[at]!));
    for (let half = 0; half < 8 && low < high; half += 1) {
      const middle = (low + high) / 2;
      const over = sum([...engines.entries()], ([at, requests]) =>
        this.#over(requests, middle * capacities[at]!, times[at]!),
      );
      if (over > 1 - quantile) low = middle;
      else high = middle;
    }
    return high;
  }
}
