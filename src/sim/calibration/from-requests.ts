/** Measured points from the requests of a log: how long each has taken for its tokens, and how many ran beside it. */
import { quantileOf } from '../comparison/metrics.ts';
import { type DecodePoint, decodePoints } from './decode-point.ts';

/** A request of a log. */
export interface TimedRequest {
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** Tokens of context at its beginning: the prompt, and what was kept of the response. */
  readonly contextTokens: number;
  /** Tokens that it has generated. */
  readonly tokens: number;
}

/** Requests that began within so many seconds have waited for the same prefills. */
const togetherSeconds = 0.5;
/** Fewer that began together do not tell how their times grow with their tokens. */
const leastTogether = 12;
/** Of a request by itself the first token is in its time: of a shorter one it would be much of it. */
const leastTokens = 256;
/** Points with batches within a factor of two are one. */
const perDoubling = 1;
/** A pace of fewer requests is chance. */
const leastRequests = 3;

/** Running requests over time: the integral up to each moment at which their number changes. */
class Running {
  readonly #at: number[] = [];
  readonly #sums: number[] = [];
  readonly #counts: number[] = [];

  constructor(requests: readonly TimedRequest[]) {
    const changes = requests.flatMap(({ startSeconds, endSeconds }) => [
      { at: startSeconds, by: 1 },
      { at: endSeconds, by: -1 },
    ]);
    changes.sort((a, b) => a.at - b.at);
    let [sum, count, last] = [0, 0, changes[0]?.at ?? 0];
    for (const { at, by } of changes) {
      sum += count * (at - last);
      count += by;
      last = at;
      this.#at.push(at);
      this.#sums.push(sum);
      this.#counts.push(count);
    }
  }

  /** Returns the mean number between two moments. */
  mean(from: number, to: number): number {
    return (this.#sum(to) - this.#sum(from)) / (to - from);
  }

  #sum(at: number): number {
    let [low, high] = [0, this.#at.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#at[middle]! <= at) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return 0;
    return this.#sums[low - 1]! + this.#counts[low - 1]! * (at - this.#at[low - 1]!);
  }
}

const medianOf = (list: readonly number[]): number =>
  quantileOf(
    [...list].sort((a, b) => a - b),
    0.5,
  );

/** The pace of some requests: between two moments, a sequence has got a token in so many seconds. */
interface Pace {
  readonly from: number;
  readonly to: number;
  readonly contextTokens: number;
  readonly secondsPerToken: number;
  /** Requests that it rests on. */
  readonly requests: number;
}

const secondsOf = ({ startSeconds, endSeconds }: TimedRequest): number => endSeconds - startSeconds;

/** The pace between requests that began together: what the longer ones have taken longer, for what they have more. */
function pacesBetween(together: readonly TimedRequest[]): Pace[] {
  const sorted = together.filter(({ tokens }) => tokens > 0).sort((a, b) => a.tokens - b.tokens);
  const size = Math.max(3, Math.ceil(sorted.length / 16));
  const steps: { tokens: number; seconds: number; start: number; context: number }[] = [];
  for (let at = 0; at + size <= sorted.length; at += size) {
    const some = sorted.slice(at, at + size);
    steps.push({
      tokens: medianOf(some.map(({ tokens }) => tokens)),
      seconds: medianOf(some.map(secondsOf)),
      start: medianOf(some.map(({ startSeconds }) => startSeconds)),
      context: medianOf(some.map(({ contextTokens }) => contextTokens)),
    });
  }
  return steps.slice(1).flatMap((b, index) => {
    const a = steps[index]!;
    const [tokens, seconds] = [b.tokens - a.tokens, b.seconds - a.seconds];
    if (tokens <= 0 || seconds <= 0) return [];
    const contextTokens = b.context + (a.tokens + b.tokens) / 2;
    const [from, to] = [a.start + a.seconds, b.start + b.seconds];
    return [{ from, to, contextTokens, secondsPerToken: seconds / tokens, requests: size }];
  });
}

function pacesOf(requests: readonly TimedRequest[]): Pace[] {
  const cohorts = new Map<number, TimedRequest[]>();
  for (const one of requests) {
    const key = Math.round(one.startSeconds / togetherSeconds);
    const cohort = cohorts.get(key);
    if (cohort === undefined) cohorts.set(key, [one]);
    else cohort.push(one);
  }
  return [...cohorts.values()].flatMap((cohort) => {
    if (cohort.length >= leastTogether) return pacesBetween(cohort);
    return cohort.flatMap((one) => {
      const { startSeconds: from, endSeconds: to, contextTokens, tokens } = one;
      if (tokens < leastTokens || to <= from) return [];
      const secondsPerToken = secondsOf(one) / tokens;
      return [{ from, to, contextTokens: contextTokens + tokens / 2, secondsPerToken, requests: 1 }];
    });
  });
}

/**
 * Returns points from requests: one for each doubling of the batch, with medians.
 *
 * @param engines - engines that the requests were spread over evenly
 * @param mostRunning - sequences that an engine runs at once: with more of them some wait, and their times say nothing of a token
 */
export function pointsOfRequests(
  requests: readonly TimedRequest[],
  engines: number,
  mostRunning: number,
): DecodePoint[] {
  const running = new Running(requests);
  const bins = new Map<number, (Pace & { readonly batch: number })[]>();
  for (const pace of pacesOf(requests)) {
    const batch = Math.max(1, running.mean(pace.from, pace.to) / engines);
    if (batch > mostRunning) continue;
    const key = Math.round(perDoubling * Math.log2(batch));
    const bin = bins.get(key);
    if (bin === undefined) bins.set(key, [{ ...pace, batch }]);
    else bin.push({ ...pace, batch });
  }
  const points = [...bins]
    .sort(([a], [b]) => a - b)
    .filter(([, list]) => list.reduce((sum, { requests }) => sum + requests, 0) >= leastRequests)
    .map(([, list]) => ({
      running: medianOf(list.map(({ batch }) => batch)),
      contextTokens: medianOf(list.map(({ contextTokens }) => contextTokens)),
      secondsPerToken: medianOf(list.map(({ secondsPerToken }) => secondsPerToken)),
    }));
  return points.length === 0 ? [] : decodePoints(points);
}
