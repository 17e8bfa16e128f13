/** Parts of gpu-scale-down by themselves: where requests go, which engines of large clusters, the times that are looked at. */
import { describe, expect, test } from 'vitest';
import { create, gpuScaleDown } from '../../../src/index.ts';
import { Loads } from '../../../src/policies/gpu-scale-down/columns.ts';
import { timesUntil, withFiner } from '../../../src/policies/gpu-scale-down/outlook.ts';
import { assign, Weights, weightBin } from '../../../src/policies/gpu-scale-down/plan.ts';
import { binOf } from '../../../src/policies/gpu-scale-down/survival.ts';
import { generator } from '../../support/basics/numbers.ts';
import { type Engines, open, type Release, report, untilQuery } from '../../support/oracles/scale-down.ts';

/** What each target gets of requests of one weight, and what it has free then. */
function dealt(count: number, weight: number, free: readonly number[]) {
  const weights = new Weights();
  const bin = weightBin(weight);
  weights.counts[bin] = count;
  weights.sums[bin] = count * weight;
  const targets = free.map((one, engineIndex) => ({ engineIndex, free: one }));
  const goesTo = new Int32Array(count).fill(-1);
  assign(weights, targets, goesTo);
  return { goesTo: [...goesTo], free: targets.map((target) => target.free) };
}

/** The same one by one: each to the target with most free, the first of several. */
function oneByOne(count: number, weight: number, free: readonly number[]) {
  const left = [...free];
  const shares = free.map(() => 0);
  for (let index = 0; index < count; index += 1) {
    const most = left.indexOf(Math.max(...left));
    shares[most]! += 1;
    left[most]! -= weight;
  }
  return { goesTo: shares.flatMap((share, at) => new Array<number>(share).fill(at)), free: left };
}

describe('where requests go', () => {
  const next = generator(41);
  const below = (n: number) => Math.floor(next() * n);

  test.each([
    ['of few tokens, targets often alike', 5, 20],
    ['of few tokens, targets far apart', 5, 2000],
    ['of many tokens', 3000, 20_000],
    ['that weigh nothing', 1, 50],
  ])('as if each went by itself to the target with most free: requests %s', (_, most, room) => {
    for (let run = 0; run < 500; run += 1) {
      const free = Array.from({ length: 1 + below(9) }, () => below(room) - (room >> 2));
      const [count, weight] = [1 + below(60), below(most)];
      expect(dealt(count, weight, free)).toEqual(oneByOne(count, weight, free));
    }
  });

  test('single tokens count where a petabyte is free', () => {
    const free = [0, 1, 2, 7, 8].map((less) => 2 ** 52 - less);
    for (let count = 1; count < 40; count += 1) expect(dealt(count, 1, free)).toEqual(oneByOne(count, 1, free));
  });

  test('heavier requests go first, and what they leave free decides on the lighter ones', () => {
    const weights = new Weights();
    // Three of 100 tokens, on average, and two of 10; two requests in one bin count as its mean.
    for (const weight of [98, 100, 102, 10, 10]) {
      weights.counts[weightBin(weight)]! += 1;
      weights.sums[weightBin(weight)]! += weight;
    }
    expect(new Set([98, 100, 102].map(weightBin)).size).toBe(2);
    const goesTo = new Int32Array(5);
    const targets = [205, 100].map((free, engineIndex) => ({ engineIndex, free }));
    const starts = assign(weights, targets, goesTo);
    // 101 to the first twice (205, 104), 98 to the second; then 10 to the first, by 3 to 2, and to the second.
    expect([...goesTo]).toEqual([0, 0, 1, 0, 1]);
    expect([102, 98, 10].map((weight) => starts[weightBin(weight)])).toEqual([0, 2, 3]);
  });

  test('a weight is rounded to a whole number of tokens for its bin, and beyond 2^30 there is one bin', () => {
    expect([0, 0.49, 0.5, 31.4, 31.5].map(weightBin)).toEqual([0, 0, 1, 31, 32]);
    const last = new Weights().counts.length - 1;
    expect([2 ** 30 - 1, 2 ** 30, 2 ** 34].map(weightBin)).toEqual([binOf(2 ** 30 - 1), last, last]);
  });
});

describe('the times that are looked at', () => {
  /** Requests of so many tokens each in the KV cache. */
  const holding = (kvTokens: number, requests = 10) => {
    const loads = new Loads(1, 4);
    for (let index = 0; index < requests; index += 1) loads.add(0, index % 4, 0, kvTokens);
    return loads;
  };

  test.each([
    [0, 0, 0],
    [1, 0, 0],
    [31, 10, 4],
    [1000, 0, 300],
    [1000, 3200, 50],
    [30_000, 700, 9000],
    [30_000, 3200, 0],
    [1_000_000, 64_000, 900],
    [1_000_000, 64_000, 700_000],
  ])(
    'until %i tokens from now, with %i in the cache of each: an eighth apart, around %i a sixteenth',
    (longest, kvTokens, busiest) => {
      const coarse = timesUntil(longest, holding(kvTokens));
      const times = withFiner(coarse, coarse.findLast((time) => time <= busiest)!);
      const first = Math.max(1, Math.floor(kvTokens / 32));
      expect(times[0]).toBe(0);
      expect(times.at(-1)).toBe(longest);
      for (const [at, time] of times.entries()) {
        if (at === 0) continue;
        const before = times[at - 1]!;
        expect(time).toBeGreaterThan(before);
        // At first a cache that grows by a 32nd; where it is fullest that early, twice the time before.
        const apart = busiest < first ? Math.max(1, before) : first;
        const share = before >= busiest / 2 && time <= 2 * busiest ? 16 : 8;
        expect(time - before, `${before} to ${time}`).toBeLessThanOrEqual(Math.max(1, apart, before / share));
      }
      // Eight an octave, and eight more around the busiest: the cost is engines times groups times these.
      const octaves = Math.log2(Math.max(1, longest / Math.max(32, first))) + 1;
      expect(times.length).toBeLessThanOrEqual(34 + 8 * octaves + 20);
      expect(coarse.length).toBeLessThanOrEqual(34 + 8 * octaves);
    },
  );
});

test('a cluster whose replicas lie across many servers is halved: no group is split, as few servers as can be are', () => {
  // Forty servers of four GPUs; each replica has a GPU of four servers that lie far apart.
  const engines: Engines = Array.from({ length: 160 }, (_, index) => ({
    engineId: `e${String(index).padStart(3, '0')}`,
    serverId: `s${String(index % 40).padStart(2, '0')}`,
    gpuIds: [`g${index}`],
    kvCapacityTokens: 1e6,
  }));
  const communicationGroups = Array.from({ length: 40 }, (_, at) =>
    [0, 1, 2, 3].map((k) => `g${40 * k + ((at * (1 + 6 * k)) % 40)}`),
  );
  expect(new Set(communicationGroups.flat()).size).toBeGreaterThan(100);
  const policy = create(gpuScaleDown, {
    promptsPerRound: 10,
    responsesPerPrompt: 2,
    maxResponseTokens: 100,
    engines,
    communicationGroups,
  });
  open(policy, 'r');
  const [release] = report(policy, untilQuery(policy), []) as [Release];
  const gone = new Set(release.release.flatMap((one) => one.gpuIds));
  expect(gone.size).toBe(80);
  for (const group of communicationGroups) {
    expect([0, new Set(group).size]).toContain([...new Set(group)].filter((gpu) => gone.has(gpu)).length);
  }
});
