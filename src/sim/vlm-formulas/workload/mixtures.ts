/** Workloads: the mixtures of FlexRL §5.1, text only, and recorded samples of the user. */
import { refuse } from '../../../errors.ts';
import { pickIndex } from '../../workload/random.ts';
import { checkWorkload, type Workload } from '../../workload/workload.ts';
import type { VlmSample, VlmWorkload } from './sample.ts';
import { imageSample, kindShare, longVideoSample, type SampleOptions, shortVideoSample } from './sources.ts';

/** Ids of the mixtures. */
export const mixtureIds = ['image-heavy', 'video-heavy', 'only-video'] as const;
/** Id of a mixture. */
export type MixtureId = (typeof mixtureIds)[number];

/** Weights of images (like Geo3K), short videos (NExT-QA) and long videos (like LongVILA). */
const mixtureWeights: Readonly<Record<MixtureId, readonly [number, number, number]>> = Object.freeze({
  'image-heavy': [5, 2, 1],
  'video-heavy': [1, 2, 5],
  'only-video': [0, 0, 1],
});

/** Returns a mixture. Throws `PolicyError` `invalid_input` for an invalid cap, seed or limit of frames. */
export function mixtureWorkload(id: MixtureId, options: SampleOptions): VlmWorkload {
  checkWorkload(options);
  if (!Number.isSafeInteger(options.maxFrames) || options.maxFrames < 1) {
    const { maxFrames: got } = options;
    refuse('invalid_input', 'maxFrames', 'a whole number >= 1', got);
  }
  const weights = mixtureWeights[id];
  const total = weights.reduce((sum, one) => sum + one, 0);
  return {
    name: `${id}, at most ${options.maxFrames} frames`,
    source: `images and short videos recorded, long videos synthetic (${weights.join(':')})`,
    sample: (index): VlmSample => {
      const share = kindShare(options.seed, index) * total;
      if (share < weights[0]) return imageSample(options, index);
      return share < weights[0] + weights[1] ? shortVideoSample(options, index) : longVideoSample(options, index);
    },
  };
}

/** Returns a workload with text only: the responses of another workload, each prompt with its group of responses. */
export function textVlmWorkload(text: Workload, responsesPerPrompt: number): VlmWorkload {
  return {
    name: text.name,
    source: `${text.source}, text only`,
    sample: (index): VlmSample => {
      const prompt = text.prompt(Math.floor(index / responsesPerPrompt));
      const { tokens } = prompt.sample(index % responsesPerPrompt);
      return {
        kind: 'text',
        textTokens: prompt.promptTokens,
        responseTokens: tokens,
        frames: 0,
        visualTokens: 0,
        megapixels: 0,
      };
    },
  };
}

/**
 * Returns a workload of recorded samples: first in their order, then drawn at random. Throws `PolicyError` `invalid_input` without
 * samples.
 */
export function recordedVlmWorkload(name: string, samples: readonly VlmSample[], seed: number): VlmWorkload {
  if (samples.length === 0) refuse('invalid_input', name, 'samples', 'none');
  return {
    name,
    source: 'recorded',
    // The first epoch has the recorded order; later samples are drawn with replacement.
    sample: (index) => samples[index < samples.length ? index : pickIndex(samples.length, seed, index)]!,
  };
}
