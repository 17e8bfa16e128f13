/** The configuration and the decisions of speculative-admission. */

import { z } from 'zod';
import type { Context } from '../../core/machine/definition.ts';
import { scaledCount } from '../../core/rollout/prompts.ts';
import type { SpeculativeAdmissionDecision } from '../../generated/settings/speculative-admission.ts';
import {
  promptCarried,
  promptCollected,
  promptCounted,
  promptDeferred,
  promptFailed,
  promptFiltered,
  promptMerged,
  promptReturned,
} from '../../schemas/decisions/prompts.ts';
import {
  requestAbort,
  requestExpired,
  requestLaunch,
  requestResume,
  responseAbandoned,
  responseAccepted,
  responseDropped,
  responseLate,
  responseSurplus,
} from '../../schemas/decisions/requests.ts';
import { judgementLate, judgementRequest, rewardRequest } from '../../schemas/decisions/rewards.ts';
import { promptsRequest, roundCompleted, roundDrained, speculationChosen } from '../../schemas/decisions/rounds.ts';
import { timerSet } from '../../schemas/decisions/session.ts';
import { triesRecovered, triesSuspended } from '../../schemas/decisions/tries.ts';
import { count, domain, idPrefix, positiveCount, positiveSeconds, speculationFactor } from '../../schemas/units.ts';
import { grid } from './speculation.ts';

/** Default over-provisioning of short rounds. */
export const usualFactor = 1.25;
/** Limit on the requests that a round may launch, because one event may launch all of them. */
export const mostRequests = 1_000_000;

const retry = z
  .strictObject({
    infrastructure: count.default(5).describe('Further tries of a response after infrastructure faults.'),
    data: count.default(1).describe('Further tries of a response after faults of the prompt itself.'),
    environment: count.default(3).describe('Further tries of a trajectory after faults of its environment.'),
    giveUpSeconds: positiveSeconds
      .optional()
      .describe(
        'Seconds until a response is given up whose failures are beyond its budget, while no other succeeds to compare it with; never if absent.',
      ),
  })
  .describe('Retry budgets of each response; only failures that are its own are charged.');

const shape = z.strictObject({
  promptsPerRound: positiveCount.describe('P0: prompts that a round trains on.'),
  responsesPerPrompt: positiveCount.describe('R0: responses that a prompt needs (the group size).'),
  speculation: z
    .enum(['fixed', 'auto'])
    .default('fixed')
    .describe('`auto` tries factors from 1.1 to 1.4 in the first rounds and keeps the fastest.'),
  promptSpeculation: speculationFactor
    .optional()
    .describe('Over-provisioning of prompts in short rounds; 1.25 if absent.'),
  responseSpeculation: speculationFactor
    .optional()
    .describe('Over-provisioning of responses in short rounds; 1.25 if absent.'),
  placement: z.enum(['policy', 'host']).default('host').describe('Who chooses the engine of a request.'),
  maxInFlight: positiveCount.optional().describe('Most requests in flight at once; unlimited if absent.'),
  maxInFlightPerEngine: positiveCount
    .optional()
    .describe('Most requests in flight on one engine (`placement: policy`); unlimited if absent.'),
  retry: retry.prefault({}),
  filter: z
    .enum(['none', 'zero-variance', 'host'])
    .default('none')
    .describe('Which collected prompts count: all, those whose rewards differ, or those that the host keeps.'),
  varianceTolerance: z
    .number()
    .nonnegative()
    .default(1e-6)
    .describe('Standard deviation of raw rewards up to which a prompt has zero variance.'),
  maxFiltered: positiveCount
    .optional()
    .describe(
      'Prompts that a round filters before it asks for no more, and ends with those that it has; no bound if absent.',
    ),
  quotas: z
    .record(domain, positiveCount)
    .optional()
    .describe('Prompts of each domain in a short round; together they are P0. Long rounds take any mix.'),
  partialRollout: z
    .boolean()
    .default(false)
    .describe('Deferred prompts keep their tokens and resume from them; needs `maxStaleness` of 1 or more.'),
  maxStaleness: count
    .default(0)
    .describe(
      'Weight versions that a response may lag behind: 0 synchronous, 1 one-step off-policy, more asynchronous.',
    ),
  allowOverlap: z.boolean().default(false).describe('Whether a round may open before the last one has drained.'),
  abortGraceSeconds: positiveSeconds.default(30).describe('Seconds until an unconfirmed abort frees its engine slot.'),
  responseTimeoutSeconds: positiveSeconds
    .optional()
    .describe(
      'Seconds after which a running response of which nothing was heard is tried again, twice as long each time; never if absent.',
    ),
  onRestart: z
    .enum(['launch', 'continue'])
    .optional()
    .describe(
      'What becomes of requests in flight when the host restarts: they are launched anew, as if absent, or go on under their ids, as trajectories do whose finished turns the host has kept.',
    ),
  idPrefix: idPrefix.default(''),
});

type Factors = Pick<z.output<typeof shape>, 'speculation' | 'promptSpeculation' | 'responseSpeculation'>;

/** Returns the largest factors that a round may have. */
function largestFactors({ speculation, promptSpeculation, responseSpeculation }: Factors) {
  if (speculation === 'auto') return { forPrompts: Math.max(...grid), forResponses: Math.max(...grid) };
  return { forPrompts: promptSpeculation ?? usualFactor, forResponses: responseSpeculation ?? usualFactor };
}

/** Returns the most requests that a prompt may have at once. */
export const mostResponses = (config: Factors & { readonly responsesPerPrompt: number }): number =>
  scaledCount(largestFactors(config).forResponses, config.responsesPerPrompt);

export const admissionConfig = shape.superRefine((config, context) => {
  const refuse = (path: keyof typeof config, message: string) =>
    context.addIssue({ code: 'custom', path: [path], message });
  for (const factor of ['promptSpeculation', 'responseSpeculation'] as const) {
    if (config.speculation === 'auto' && config[factor] !== undefined)
      refuse(factor, 'no factor beside `speculation: auto`');
  }
  const { promptsPerRound: prompts, responsesPerPrompt: responses } = config;
  const requests = scaledCount(largestFactors(config).forPrompts, prompts) * mostResponses(config);
  if (requests > mostRequests) {
    const launched = `a round of at most ${mostRequests} requests, prompts × responses with speculation: it has ${requests}`;
    refuse(prompts > responses ? 'promptsPerRound' : 'responsesPerPrompt', launched);
  }
  if (config.maxInFlightPerEngine !== undefined && config.placement === 'host') {
    refuse('maxInFlightPerEngine', 'a limit for each engine only with `placement: policy`');
  }
  if (config.partialRollout && config.maxStaleness === 0) {
    refuse(
      'partialRollout',
      '`maxStaleness` of 1 or more beside `partialRollout`: resumed responses span weight versions',
    );
  }
  if (config.quotas !== undefined) {
    const total = Object.values(config.quotas).reduce((sum, quota) => sum + quota, 0);
    if (total !== config.promptsPerRound)
      refuse('quotas', `quotas that add up to promptsPerRound ${config.promptsPerRound}`);
  }
});

export const admissionDecisions = [
  promptsRequest,
  requestLaunch,
  requestAbort,
  requestResume,
  timerSet,
  responseAccepted,
  responseSurplus,
  responseLate,
  responseDropped,
  responseAbandoned,
  rewardRequest,
  judgementRequest,
  judgementLate,
  requestExpired,
  triesSuspended,
  triesRecovered,
  promptCollected,
  promptCounted,
  promptFiltered,
  promptFailed,
  promptDeferred,
  promptCarried,
  promptReturned,
  promptMerged,
  roundCompleted,
  roundDrained,
  speculationChosen,
] as const;

/** The context through which handlers emit decisions. */
export type Ctx = Context<SpeculativeAdmissionDecision>;
