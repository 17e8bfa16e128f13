/**
 * Batches for the tests and benchmarks of flex-ulysses: sequence lengths (visual, text and response tokens together)
 * of the datasets on which FlexRL is measured (§5.1), as mixtures of lognormals fitted to the instances of
 * test/fixtures/placement-instances.jsonl. The same seed gives the same batch.
 */
import { normal, uniform } from '../../../src/sim/workload/random.ts';

/** A lognormal cut off at both ends, where sequences are padded or clipped. */
interface Lengths {
  readonly median: number;
  readonly sigma: number;
  readonly least: number;
  readonly most: number;
}

/** Geo3K: an image and a short question. */
const image: Lengths = { median: 700, sigma: 0.39, least: 300, most: 1500 };
/** NExT-QA: videos of about half a minute. */
const shortVideo: Lengths = { median: 5000, sigma: 0.45, least: 1800, most: 20_000 };
/** LongVILA-Reason: videos as long as the most frames allow. */
const longVideo: Lengths = { median: 24_000, sigma: 0.56, least: 6000, most: 98_304 };
/** Reasoning about a text prompt. */
const reasoning: Lengths = { median: 2100, sigma: 0.95, least: 60, most: 32_768 };
/** The response to a video, at most 1,024 tokens (§5.1). */
const response: Lengths = { median: 400, sigma: 0.5, least: 30, most: 1024 };

const datasets = [image, shortVideo, longVideo] as const;
const responsesPerPrompt = 8;

/** Streams of random numbers, so that none depends on how often another was asked. */
const stream = { dataset: 1, length: 2, prompt: 3, response: 4 } as const;

function draw({ median, sigma, least, most }: Lengths, ...keys: readonly number[]): number {
  return Math.round(Math.min(most, Math.max(least, median * Math.exp(sigma * normal(...keys)))));
}

/** A sequence of one of the datasets, drawn by their weights. */
function mixed(weights: readonly [number, number, number], seed: number, index: number): number {
  const total = weights[0] + weights[1] + weights[2];
  const at = total * uniform(seed, stream.dataset, index);
  const dataset = at < weights[0] ? 0 : at < weights[0] + weights[1] ? 1 : 2;
  return draw(datasets[dataset], seed, stream.length, index);
}

/** The length of a sequence of each family, by the seed and its index in the batch. */
const families = {
  'image-heavy': (seed: number, index: number) => mixed([5, 2, 1], seed, index),
  'video-heavy': (seed: number, index: number) => mixed([1, 2, 5], seed, index),
  'only-video': (seed: number, index: number) => mixed([0, 0, 1], seed, index),
  text: (seed: number, index: number) =>
    Math.round(60 + 200 * uniform(seed, stream.prompt, index)) + draw(reasoning, seed, stream.length, index),
  // The responses of a prompt stand beside each other and share its length.
  grpo: (seed: number, index: number) =>
    mixed([1, 2, 5], seed, Math.floor(index / responsesPerPrompt)) + draw(response, seed, stream.response, index),
} as const;

/** A family of batches. */
export type PlacementFamily = keyof typeof families;

/** All families. */
export const placementFamilies = Object.keys(families) as readonly PlacementFamily[];

/** The lengths of a batch. */
export function familyLengths(family: PlacementFamily, seed: number, sequences: number): number[] {
  return Array.from({ length: sequences }, (_, index) => families[family](seed, index));
}
