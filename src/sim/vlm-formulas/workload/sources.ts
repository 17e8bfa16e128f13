/** Sources of mixtures: images, short videos and long videos. Seed and index determine each sample. */
import { z } from 'zod';
import { parse } from '../../../core/machine/validate.ts';
import { jsonLine } from '../../trace/format.ts';
import type { QuantileRow } from '../../trace/quantiles.ts';
import { pooledQuantile, type Quantile } from '../../workload/marginal.ts';
import { normal, pickIndex, uniform } from '../../workload/random.ts';
import type { VlmSample } from './sample.ts';

const recordedVideoSchema = z.strictObject({
  frames: z.int().positive().describe('Frames of the clip.'),
  width: z.int().positive().describe('Pixels.'),
  height: z.int().positive().describe('Pixels.'),
  textTokens: z.int().nonnegative().describe('Tokens of the question.'),
});
/** A recorded video. */
export type RecordedVideo = Readonly<z.output<typeof recordedVideoSchema>>;

const percents = z.array(z.number().nonnegative()).length(101);
const imageRow = z.object({ rps: z.number().nonnegative(), image_tokens: percents, output_tokens: percents });

/** Recorded data from which mixtures are drawn. */
export interface VisionSources {
  /** Recorded videos; each sample draws one of them. */
  readonly videos: readonly RecordedVideo[];
  /** Tokens of one image, by quantile. */
  readonly imageTokens: Quantile;
  /** Tokens of a response, by quantile. */
  readonly responseTokens: Quantile;
}

const linesOf = (text: string) => text.split('\n').map((line) => line.trim());

/**
 * Reads sources from the text of two files, such as the bundled ones.
 *
 * @param videos - JSON lines, one {@link RecordedVideo} each
 * @param images - JSON lines of ServeGen: quantiles of clients
 * @throws PolicyError `invalid_input` with file and line
 */
export function readVisionSources(videos: string, images: string): VisionSources {
  const read = <T>(text: string, file: string, schema: z.ZodType<T>): T[] =>
    linesOf(text).flatMap((line, index) => {
      const where = `${file}:${index + 1}`;
      return line === '' ? [] : [parse(schema, jsonLine(line, where), 'invalid_input', where)];
    });
  const rows = read(images, 'images', imageRow).map(
    (row): QuantileRow => ({ rps: row.rps, inputTokens: row.image_tokens, outputTokens: row.output_tokens }),
  );
  return {
    videos: read(videos, 'videos', recordedVideoSchema),
    imageTokens: pooledQuantile(rows, 'inputTokens'),
    responseTokens: pooledQuantile(rows, 'outputTokens'),
  };
}

/** Options for making samples. */
export interface SampleOptions {
  /** Videos, and lengths of images and responses. */
  readonly sources: VisionSources;
  /** Most frames of a video. */
  readonly maxFrames: number;
  /** Longest response, in tokens. */
  readonly capTokens: number;
  /** Seed, a safe whole number. */
  readonly seed: number;
}

/** Sampled frames per second; and the frame rate of NExT-QA clips, which their files do not contain. */
const sampledPerSecond = 1;
const recordedPerSecond = 30;
/** Tokens per frame: the slope between the only-video rows of FlexRL's Table 2, which have 64 and 96 frames. */
export const tokensPerFrame = 127;
/** Tokens of the chat template and the instructions. */
const templateTokens = 100;
/** Seconds of long videos (1080p): most reach the largest limit of frames, as the token counts of Table 2 show. */
const longVideo = { medianSeconds: 400, sigma: 0.6, megapixels: 2.07 };

/** Keys of independent draws. */
const keys = { kind: 1, video: 2, image: 3, response: 4, seconds: 5 };

const response = ({ sources, capTokens, seed }: SampleOptions, index: number): number =>
  Math.min(capTokens, Math.max(1, Math.round(sources.responseTokens(uniform(seed, keys.response, index)))));

function video(
  options: SampleOptions,
  index: number,
  seconds: number,
  rest: Pick<VlmSample, 'textTokens' | 'megapixels'>,
) {
  const frames = Math.max(1, Math.min(options.maxFrames, Math.round(seconds * sampledPerSecond)));
  const visualTokens = frames * tokensPerFrame;
  return { kind: 'video', ...rest, responseTokens: response(options, index), frames, visualTokens } as const;
}

/** Returns a sample with one image and a short question (like Geo3K). */
export function imageSample(options: SampleOptions, index: number): VlmSample {
  const visualTokens = Math.max(1, Math.round(options.sources.imageTokens(uniform(options.seed, keys.image, index))));
  const textTokens = templateTokens + 26;
  return {
    kind: 'image',
    textTokens,
    responseTokens: response(options, index),
    frames: 1,
    visualTokens,
    megapixels: 0.5,
  };
}

/** Returns a sample with a recorded short clip (NExT-QA). */
export function shortVideoSample(options: SampleOptions, index: number): VlmSample {
  const { videos } = options.sources;
  const one = videos[pickIndex(videos.length, options.seed, keys.video, index)]!;
  const megapixels = (one.width * one.height) / 1e6;
  return video(options, index, one.frames / recordedPerSecond, {
    textTokens: templateTokens + one.textTokens,
    megapixels,
  });
}

/** Returns a sample with a long video (like LongVILA). */
export function longVideoSample(options: SampleOptions, index: number): VlmSample {
  const seconds = longVideo.medianSeconds * Math.exp(longVideo.sigma * normal(options.seed, keys.seconds, index));
  return video(options, index, seconds, { textTokens: templateTokens + 26, megapixels: longVideo.megapixels });
}

/** Returns a number from 0 to 1 that decides the kind of a sample. */
export const kindShare = (seed: number, index: number): number => uniform(seed, keys.kind, index);
