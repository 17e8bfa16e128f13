/** Sequences of a VLM trainer's batch: text, and images or frames of a video. */
import { z } from 'zod';

/** Visual content of a sequence, or none. */
const visualKinds = ['text', 'image', 'video'] as const;

export const vlmSampleSchema = z
  .strictObject({
    kind: z.enum(visualKinds).describe('`text`: nothing to see; `image`: one or more; `video`: frames of one clip.'),
    textTokens: z.int().nonnegative().max(1e7).describe('Tokens of the prompt that are text.'),
    responseTokens: z.int().nonnegative().max(1e7).describe('Tokens of the response.'),
    frames: z.int().nonnegative().max(1e6).describe('Images, or frames taken from the video.'),
    visualTokens: z.int().nonnegative().max(1e8).describe('Tokens of all of them for the backbone.'),
    megapixels: z.number().nonnegative().max(1e4).describe('Millions of pixels of a source frame, before resizing.'),
  })
  .refine((one) => (one.kind === 'text') === (one.visualTokens === 0), {
    path: ['visualTokens'],
    message: '0 for text, and more for image and video',
  })
  .refine((one) => one.kind === 'text' || one.frames > 0, { path: ['frames'], message: 'at least 1' });

/** A sequence of a vision-language batch: its tokens and images. */
export type VlmSample = Readonly<z.output<typeof vlmSampleSchema>>;

/** Returns the tokens of a whole sequence in the backbone. */
export const lengthOf = (one: VlmSample): number => one.textTokens + one.visualTokens + one.responseTokens;

/** An endless sequence of samples; the same for every scheduler. */
export interface VlmWorkload {
  /** Name for readers, in tables and charts. */
  readonly name: string;
  /** The source of the lengths, in words. */
  readonly source: string;
  /** Returns the sample at an index, from 0; it depends only on the seed of the workload and on the index. */
  sample(index: number): VlmSample;
}

/** Returns the samples of a step. */
export function batchOf(workload: VlmWorkload, step: number, sequences: number): VlmSample[] {
  return Array.from({ length: sequences }, (_, index) => workload.sample(step * sequences + index));
}
