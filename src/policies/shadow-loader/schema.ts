/** The configuration and the decisions of shadow-loader. */
import { z } from 'zod';
import { type Context, handlersOf } from '../../core/machine/definition.ts';
import type { ShadowLoaderDecision } from '../../generated/settings/shadow-loader.ts';
import {
  batchAbandoned,
  batchMaterialized,
  preprocessLate,
  sampleDropped,
  sampleEvict,
  sampleMaterialize,
  samplePlaceholder,
  samplePrefetch,
  samplePreprocess,
  sampleRegistered,
  sampleReleased,
  sampleUnplaced,
  sliceLate,
  stepResumed,
} from '../../schemas/decisions/loading.ts';
import { timerSet } from '../../schemas/decisions/session.ts';
import { triesRecovered, triesSuspended } from '../../schemas/decisions/tries.ts';
import { loaderNode } from '../../schemas/loading.ts';
import { count, idPrefix, positiveCount, positiveSeconds } from '../../schemas/units.ts';
import type { LoaderState } from './state.ts';

const retry = z
  .strictObject({
    infrastructure: count
      .default(3)
      .describe(
        'Further tries after failures on nodes that are proven to be its own: others have succeeded since where it failed. The loss of a node is none.',
      ),
    giveUpSeconds: positiveSeconds
      .optional()
      .describe(
        'Seconds after which a sample is dropped whose failures pass the budget, and could not be compared with others; absent: never.',
      ),
    data: count.default(0).describe('Further tries of a sample that could not be decoded.'),
    transfer: count
      .default(3)
      .describe('Further tries of each slice that a rank could not fetch, though others were fetched since.'),
  })
  .describe('Retry budgets of each sample.');

export const shadowLoaderConfig = z.strictObject({
  nodes: z
    .array(loaderNode)
    .max(65_536)
    .default([])
    .describe('Nodes that are there from the beginning, each once; others come by `node.added`.')
    .refine((nodes) => new Set(nodes.map((one) => one.nodeId)).size === nodes.length, 'expected each node once'),
  prefetchSteps: count.default(1).describe('How many steps beyond the first open one are preprocessed ahead.'),
  prefetchFraction: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe('How much of the host memory of a node such samples may take, relative, 0 to 1.'),
  channels: positiveCount.max(64).default(3).describe('Channels of a frame, in the shapes of placeholders.'),
  retry: retry.prefault({}),
  idPrefix: idPrefix.default('').describe('Prefix of every id that is minted; new after each restart of the host.'),
});

/** Decisions of shadow-loader, in the order of a sample's life. */
export const loaderDecisions = [
  stepResumed,
  samplePlaceholder,
  sampleUnplaced,
  samplePreprocess,
  samplePrefetch,
  sampleRegistered,
  sampleMaterialize,
  sampleEvict,
  sampleReleased,
  sampleDropped,
  batchMaterialized,
  batchAbandoned,
  preprocessLate,
  sliceLate,
  triesSuspended,
  triesRecovered,
  timerSet,
] as const;

/** The context through which handlers emit decisions. */
export type Ctx = Context<ShadowLoaderDecision>;
/** Declares the handler of an event. */
export const on = handlersOf<LoaderState, ShadowLoaderDecision>();
