import { describe, expect, test } from 'vitest';
import { bytesPerVisualToken, decoding, shadow } from '../../../../src/sim/vlm-formulas/constants.ts';
import { inputSeconds, movedBytes } from '../../../../src/sim/vlm-formulas/inputs.ts';
import { decodeSeconds, load, nodeOfSamples } from '../../../../src/sim/vlm-formulas/loading.ts';
import {
  fixedUlysses,
  flexrlScheduler,
  placeBatch,
  type VlmScheduler,
  verlBucketing,
} from '../../../../src/sim/vlm-formulas/scheduler.ts';
import { defineVlmJob } from '../../../../src/sim/vlm-formulas/settings.ts';
import { image, text, video } from '../../../support/vlm.ts';

const job = defineVlmJob({ gpus: 16, batchSequences: 8 });
const videos = Array.from({ length: 8 }, () => video(64));

describe('loading', () => {
  test('by one controller: seconds and memory grow with the payload, and a step waits for all of it', () => {
    const one = load('centralized', videos, job, 1000);
    const two = load('centralized', [...videos, ...videos], job, 1000);
    expect(one.seconds).toBeCloseTo((8 * decodeSeconds(video(64))) / decoding.processes, 9);
    expect(two.seconds).toBeCloseTo(2 * one.seconds, 9);
    expect(one.exposedSeconds).toBe(one.seconds);
    expect(one.controllerBytes).toBe(2 * 8 * 6400 * bytesPerVisualToken);
    expect(two.controllerBytes).toBe(2 * one.controllerBytes);
    expect(one.nodeBytes).toBe(0);
  });

  test('by ShadowLoader: spread over nodes, nothing in the controller, hidden behind the step before', () => {
    const one = load('shadow-loader', videos, job, 1000);
    expect(one.controllerBytes).toBe(0);
    // Two nodes: half of the batch each, of this step and the next.
    expect(one.nodeBytes).toBe(2 * 4 * 6400 * bytesPerVisualToken);
    expect(one.seconds).toBeCloseTo(decodeSeconds(video(64)), 9);
    expect(one.exposedSeconds).toBeCloseTo(8 * shadow.handOffSecondsPerSample, 9);
  });

  test('ShadowLoader shows what the step before is too short to hide', () => {
    const { seconds, exposedSeconds } = load('shadow-loader', videos, job, 2);
    expect(exposedSeconds).toBeCloseTo(seconds - 2, 9);
  });

  test('one node with more samples than processes takes them in turns', () => {
    const many = Array.from({ length: 64 }, () => video(64));
    const { seconds } = load('shadow-loader', many, defineVlmJob({ gpus: 8 }), 1000);
    expect(seconds).toBeCloseTo((64 / shadow.processesPerNode) * decodeSeconds(video(64)), 9);
  });

  test('the least loaded node is the one with fewest bytes: a long video balances several images', () => {
    const batch = [video(10), image, image];
    // 1000 tokens on one node, 500 + 500 on the other.
    expect(load('shadow-loader', batch, job, 1000).nodeBytes).toBe(2 * 1000 * bytesPerVisualToken);
  });

  test('text is not loaded, and waits for nothing', () => {
    for (const loader of ['centralized', 'shadow-loader'] as const) {
      expect(load(loader, [text(100)], job, 0)).toEqual({
        seconds: 0,
        exposedSeconds: 0,
        controllerBytes: 0,
        nodeBytes: 0,
      });
      for (const stage of ['rollout', 'old', 'reference', 'update'] as const) {
        expect(inputSeconds(loader, stage, [text(100)], job, 1)).toBe(0);
      }
    }
  });

  test('more frames and larger frames take longer, more frames less than in proportion', () => {
    expect(decodeSeconds(video(128))).toBeGreaterThan(decodeSeconds(video(64)));
    expect(decodeSeconds(video(128))).toBeLessThan(2 * decodeSeconds(video(64)));
    expect(decodeSeconds({ ...video(64), megapixels: 4 })).toBeCloseTo(2 * decodeSeconds(video(64)), 9);
  });
});

describe('visual inputs that are moved', () => {
  const batch = [video(40), video(40), video(40), video(40)];
  const one = 4000 * bytesPerVisualToken;
  const moved = (scheduler: VlmScheduler): number =>
    movedBytes(scheduler, placeBatch(scheduler, batch, job), batch, job);

  test('by a controller: all to the rollout, and in each of three stages to every rank that encodes it', () => {
    expect(moved(verlBucketing)).toBe(4 * one * (1 + 3));
    expect(moved(fixedUlysses(4))).toBe(4 * one * (1 + 3 * 4));
  });

  test('by ShadowLoader: half of the rollout, and once what a node needs and has not', () => {
    expect(nodeOfSamples(batch, job)).toEqual([0, 1, 0, 1]);
    // Two devices or eight: each slice goes to one device; some lie on the node where the video was decoded.
    const slices = moved(flexrlScheduler) - 4 * one * 0.5;
    expect(slices).toBeGreaterThanOrEqual(0);
    expect(slices).toBeLessThanOrEqual(4 * one);
    // Degree 8: sequences 0 to 3 go to the nodes 0, 1, 0, 1, where they were decoded.
    expect(moved(fixedUlysses(8, 'shadow-loader'))).toBe(4 * one * 0.5);
    // Degree 16: both nodes encode every frame.
    expect(moved(fixedUlysses(16, 'shadow-loader'))).toBe(4 * one * 0.5 + 4 * one);
  });

  test('text moves nothing', () => {
    const words = [text(10)];
    expect(movedBytes(verlBucketing, placeBatch(verlBucketing, words, job), words, job)).toBe(0);
  });
});
