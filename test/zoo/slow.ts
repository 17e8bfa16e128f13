/** The hosts of logs without a fault. */
import {
  cluster,
  judged,
  judges,
  pipelined,
  placed,
  queue,
  round,
  type Scene,
  sandboxes,
  scene,
  videos,
  whole,
} from './scene.ts';
import { minted, steps, tests } from './works.ts';

/** Scenes of logs without a fault, which end while much is under way. */
export const slow: Readonly<Record<string, () => Scene>> = {
  'slow-0': () =>
    scene([['tail-batching', { ...round, placement: 'policy' }]], 100, { until: 500, tail: 1, isHealthy: true }),
  'slow-1': () =>
    scene([['rollpacker', { ...cluster, defaultRewardKind: 'sandbox' }]], 101, {
      until: 300,
      workers: sandboxes,
      medians: { 'reward.finished': 15 },
      isHealthy: true,
    }),
  'slow-2': () =>
    scene([['rolloutpipe', { responsesPerPrompt: 2, globalBatchSamples: 4, width: 3 }]], 102, {
      until: 800,
      tail: 0.9,
      work: minted(6, 2),
      isHealthy: true,
    }),
  'slow-3': () => scene([['tail-pipelining', pipelined]], 103, { until: 300, isHealthy: true }),
  'slow-4': () =>
    scene([['flexrl', { devices: 4, effort: 'fast', nodes: videos }]], 104, {
      until: 150,
      work: steps(3, 60, 150),
      medians: { 'sample.preprocessed': 14 },
      isHealthy: true,
    }),
  'slow-5': () =>
    scene([['lossless-tail', { ...round, windowRounds: 2, rememberedPrompts: 40 }]], 105, {
      until: 900,
      tail: 1,
      isHealthy: true,
    }),
  'slow-6': () =>
    scene(judged({ budgetSeconds: { judge: 600 } }), 106, {
      until: 800,
      workers: judges,
      medians: { 'reward.finished': 60 },
      isHealthy: true,
    }),
  'slow-7': () =>
    scene([['sandbox-timeout', { maxTimeoutSeconds: 120 }]], 107, {
      until: 300,
      work: tests(80, 5),
      medians: { 'sandbox.finished': 16 },
      isHealthy: true,
    }),
  'slow-8': () =>
    scene(
      [
        queue,
        ['speculative-admission', { ...round, placement: 'policy' }],
        ['gpu-scale-down', { ...round, engines: placed, maxResponseTokens: 20_000 }],
      ],
      108,
      { until: 700, tail: 0.9, isHealthy: true },
    ),
  'slow-9': () =>
    scene([['tail-batching', whole]], 109, {
      until: 900,
      turns: 0.5,
      medians: { 'tool.finished': 45 },
      isHealthy: true,
    }),
};
