/** Small VLM jobs and samples for tests. */
import { bundledVisionSources } from '../../../src/cli/files/traces.ts';
import { type MixtureId, mixtureWorkload } from '../../../src/sim/vlm-formulas/workload/mixtures.ts';
import type { VlmSample, VlmWorkload } from '../../../src/sim/vlm-formulas/workload/sample.ts';

const sources = bundledVisionSources();

/** A bundled mixture. */
export const mixture = (id: MixtureId, maxFrames = 64, seed = 1): VlmWorkload =>
  mixtureWorkload(id, { sources, maxFrames, capTokens: 1024, seed });

/** A sequence of text alone. */
export const text = (tokens: number): VlmSample => ({
  kind: 'text',
  textTokens: tokens,
  responseTokens: 0,
  frames: 0,
  visualTokens: 0,
  megapixels: 0,
});

/** A 1080p video of so many frames, 100 tokens each, and a response of 100. */
export const video = (frames: number): VlmSample => ({
  kind: 'video',
  textTokens: 0,
  responseTokens: 100,
  frames,
  visualTokens: 100 * frames,
  megapixels: 2,
});

/** An image of 500 tokens, and a response of 100. */
export const image: VlmSample = { ...video(1), kind: 'image', visualTokens: 500, megapixels: 0.5 };
