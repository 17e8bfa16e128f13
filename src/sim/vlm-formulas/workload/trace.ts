/** Sequences of the user: JSON lines, one sequence per line. */
import { z } from 'zod';
import { parse } from '../../../core/machine/validate.ts';
import { refuse } from '../../../errors.ts';
import { jsonLine } from '../../trace/format.ts';
import type { VlmSample } from './sample.ts';
import { tokensPerFrame } from './sources.ts';

const positive = z.int().positive();

export const vlmTraceLineSchema = z
  .strictObject({
    promptTokens: z.int().nonnegative().max(1e7).default(0).describe('Tokens of the prompt that are text.'),
    responseTokens: positive.max(1e7).describe('Tokens of the response.'),
    images: positive.max(1e6).optional().describe('Images of the prompt; with `visualTokens`.'),
    frames: positive.max(1e6).optional().describe('Frames taken from the video of the prompt.'),
    visualTokens: positive
      .max(1e8)
      .optional()
      .describe(`Tokens of all images or frames; ${tokensPerFrame} a frame if absent.`),
    width: positive.max(1e5).default(1920).describe('Pixels of the images or of the video, before resizing.'),
    height: positive.max(1e5).default(1080).describe('Pixels of the images or of the video, before resizing.'),
  })
  .refine((line) => line.images === undefined || line.frames === undefined, {
    path: ['images'],
    message: 'images or frames, not both',
  })
  .refine((line) => line.images === undefined || line.visualTokens !== undefined, {
    path: ['visualTokens'],
    message: 'how many tokens the images have',
  })
  .refine((line) => line.visualTokens === undefined || (line.images ?? line.frames) !== undefined, {
    path: ['visualTokens'],
    message: 'images or frames that have them',
  });

/** Limits that the reader applies to sequences. */
export interface VlmTraceOptions {
  /** Most frames per video; a longer video loses frames with their tokens. No limit if absent. */
  readonly maxFrames?: number;
  /** Longest response. No limit if absent. */
  readonly capTokens?: number;
}

function sampleOf(line: z.output<typeof vlmTraceLineSchema>, options: VlmTraceOptions): VlmSample {
  const { maxFrames = Number.POSITIVE_INFINITY, capTokens = Number.POSITIVE_INFINITY } = options;
  const { promptTokens: textTokens, images, frames, width, height } = line;
  const responseTokens = Math.min(line.responseTokens, capTokens);
  const given = images ?? frames;
  if (given === undefined) {
    return { kind: 'text', textTokens, responseTokens, frames: 0, visualTokens: 0, megapixels: 0 };
  }
  const framesUsed = images === undefined ? Math.min(given, maxFrames) : given;
  const visualTokens = Math.max(1, Math.round(((line.visualTokens ?? given * tokensPerFrame) * framesUsed) / given));
  const megapixels = (width * height) / 1e6;
  return {
    kind: images === undefined ? 'video' : 'image',
    textTokens,
    responseTokens,
    frames: framesUsed,
    visualTokens,
    megapixels,
  };
}

/**
 * Reads sequences.
 *
 * @param text - the whole file
 * @param file - its name, for errors
 * @throws PolicyError `invalid_input` with file, line and field, and for a file without sequences
 */
export function readVlmTrace(text: string, file = 'trace', options: VlmTraceOptions = {}): VlmSample[] {
  const samples = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const where = `${file}:${index + 1}`;
    return [sampleOf(parse(vlmTraceLineSchema, jsonLine(line, where), 'invalid_input', where), options)];
  });
  if (samples.length > 0) return samples;
  refuse('invalid_input', file, 'at least one sequence', 'none');
}
