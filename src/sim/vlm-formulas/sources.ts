/** Sources of mixtures: images, short videos and long videos, each drawn by seed and index. */
import { z } from 'zod';
import { parse } from '../../core/validate.ts';
import { normal, pickIndex, uniform } from '../random.ts';
import { jsonLine } from '../trace/format.ts';
import type { QuantileRow } from '../trace/quantiles.ts';
import { pooledQuantile, type Quantile } from '../workload/marginal.ts';
import type { VlmSample } from './sample.ts';

/** A clip as it was recorded. */
export const recordedVideoSchema = z.strictObject({
  frames: z.int().positive().describe('Frames of the clip.'),
  width: z.int().positive().describe('Pixels.'),
  height: z.int().positive().describe('Pixels.'),
  textTokens: z.int().nonnegative().describe('Tokens of the question.'),
});
/** A clip as it was recorded. */
export type RecordedVideo = Readonly<z.output<typeof recordedVideoSchema>>;

const percents = z.array(z.number().nonnegative()).length(101);
const imageRow = z.object({ rps: z.number().nonnegative(), image_tokens: percents, output_tokens: percents });

/** Real distributions that mixtures draw from. */
export interface VisionSources {
  /** Recorded videos; a sample draws one. */
  readonly videos: readonly RecordedVideo[];
  /** Tokens of one image, and of a response. */
  readonly imageTokens: Quantile;
  /** Tokens of a response. */
  readonly responseTokens: Quantile;
}

const linesOf = (text: string) => text.split('\n').map((line) => line.trim());

/**
 * Sources from two bundled files.
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
  /** A safe whole number. */
  readonly seed: number;
}

/** Frames a second at which videos are sampled, and of the clips of NExT-QA, whose files do not say. */
const sampledPerSecond = 1;
const recordedPerSecond = 30;
/** Tokens of a frame: the slope between the only-video rows of FlexRL's Table 2, whose frames are 64 and 96. */
export const tokensPerFrame = 127;
/** Chat template and instructions. */
const templateTokens = 100;
/** Seconds of long videos: most reach the largest limit of frames, as the tokens of Table 2 say. 1080p. */
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

/** Returns one image and a short question (Geo3K-like). */
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

/** Returns a recorded short clip (NExT-QA). */
export function shortVideoSample(options: SampleOptions, index: number): VlmSample {
  const { videos } = options.sources;
  const one = videos[pickIndex(videos.length, options.seed, keys.video, index)]!;
  const megapixels = (one.width * one.height) / 1e6;
  return video(options, index, one.frames / recordedPerSecond, {
    textTokens: templateTokens + one.textTokens,
    megapixels,
  });
}

/** Returns a long video (LongVILA-like). */
export function longVideoSample(options: SampleOptions, index: number): VlmSample {
  const seconds = longVideo.medianSeconds * Math.exp(longVideo.sigma * normal(options.seed, keys.seconds, index));
  return video(options, index, seconds, { textTokens: templateTokens + 26, megapixels: longVideo.megapixels });
}

/** Returns a share that decides the kind of a sample. */
export const kindShare = (seed: number, index: number): number => uniform(seed, keys.kind, index);
