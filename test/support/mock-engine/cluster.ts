/** Mock engines in a test: a step takes a second unless told otherwise, and a text is its own length. */

import { MockCluster } from '../../../src/mock-engine/engine/cluster.ts';
import type { MockEngine } from '../../../src/mock-engine/engine/mock-engine.ts';
import type { Prompt } from '../../../src/mock-engine/engine/prompts/prompt.ts';
import { Generation, type Limits } from '../../../src/mock-engine/engine/requests/generation.ts';
import type { MockEngineInput } from '../../../src/mock-engine/options.ts';
import { type CostModel, costModelSchema } from '../../../src/sim/models/cost-model.ts';
import type { Workload } from '../../../src/sim/workload/workload.ts';
import { freeCost } from '../simulator/free-cost.ts';

/** A cost model of which only what is given is not free; there is room for 1,000 tokens. */
export function costOf(cost: Partial<CostModel> = {}): CostModel {
  return costModelSchema.parse({
    memoryBoundSeconds: 1,
    ...freeCost,
    prefillSecondsPerToken: 0,
    kvCapacityTokens: 1000,
    watermark: 0,
    ...cost,
  });
}

/** Prompts whose ids are numbers: the response to prompt 12 has 12 tokens and one more for each further sample. */
export const countingWorkload: Workload = {
  name: 'counting',
  source: 'test',
  resampling: 'recorded',
  correlation: 0,
  capTokens: 1000,
  distinctPrompts: 1000,
  prompt: (index) => ({
    promptId: `${index}`,
    promptTokens: 10,
    sample: (k) => ({ tokens: Math.max(1, index) + k, capped: false }),
  }),
};

/** Nothing takes longer than it has to, and the context is as long as the KV cache. */
export const promptly = { tokenizeSeconds: 0, abortLagSeconds: 0, updateSeconds: 0, contextTokens: 1000 } as const;

/** Engines in simulated time, without HTTP. */
export function clusterOf(options: MockEngineInput = {}, cost: Partial<CostModel> = {}): MockCluster {
  return new MockCluster({ ...promptly, ...options }, { cost: costOf(cost), workload: countingWorkload });
}

/** How a request has ended, as its listener was told. */
export interface Ended {
  readonly requestId: string;
  readonly ending: string;
  readonly tokens: number;
  readonly at: number;
}

/** Submits a request for the prompt `tokens`, and writes its end down. */
export function ask(
  cluster: MockCluster,
  engine: MockEngine,
  requestId: string,
  prompt: number | Prompt,
  ended: Ended[],
  more: Partial<Limits> & { priority?: number; progress?: (generation: Generation) => void; sample?: number } = {},
): Generation {
  const { priority = 0, progress, sample = 0, ...limits } = more;
  const asked = typeof prompt === 'number' ? { text: `${prompt}` } : prompt;
  const generation = new Generation({
    requestId,
    id: cluster.mint(requestId),
    prompt: asked,
    planned: cluster.book.plan(asked, sample, requestId),
    limits: { maxTokens: 900, minTokens: 0, ignoreEos: false, ...limits },
    priority,
    at: cluster.now,
    listener: {
      ...(progress === undefined ? {} : { progress }),
      ended: (one) => void ended.push({ requestId, ending: one.ended!, tokens: one.count, at: cluster.now }),
    },
  });
  engine.submit(generation);
  return generation;
}
