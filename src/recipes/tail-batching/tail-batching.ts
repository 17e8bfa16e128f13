/**
 * Tail batching (RollPacker §3): short rounds with speculation, and the prompts that they defer together in long
 * rounds without. A composition of speculative-admission and long-prompt-queue; it adds no scheduling of its own.
 * See README.md.
 */
import type { z } from 'zod';
import type { AnyDecision, AnyEvent } from '../../core/definition.ts';
import { defineRecipe } from '../../core/recipe.ts';
import { longPromptQueue, queueSettings } from '../../policies/long-prompt-queue/index.ts';
import {
  type AdmissionEvent,
  admissionConfig,
  speculativeAdmission,
} from '../../policies/speculative-admission/index.ts';
import type * as d from '../../schemas/decisions/index.ts';
import { roundPlanned, sourceDrained } from '../../schemas/decisions/rounds.ts';
import type * as e from '../../schemas/events/index.ts';
import { roundOpened, roundRequested } from '../../schemas/events/rounds.ts';
import { copyPrompt } from '../../schemas/prompts.ts';
import type { Of } from '../../schemas/vocabulary.ts';
import { domainsOf, joinedLedger, rewardTo } from './joined.ts';

/** Schema of the configuration: flat, each setting once. */
export const tailBatchingConfig = admissionConfig.safeExtend(queueSettings);
/** What a caller writes. */
export type TailBatchingInput = z.input<typeof tailBatchingConfig>;
/** The configuration with its defaults filled in. */
export type TailBatchingConfig = z.output<typeof tailBatchingConfig>;

const internal = new Set<string>([roundOpened.type]);
const fromOutside = speculativeAdmission.events.filter((word) => !internal.has(word.type));
const events = [roundRequested, ...fromOutside] as readonly (typeof e.events)[number][];
const decisions = [...(speculativeAdmission.decisions as typeof d.decisions), roundPlanned, sourceDrained] as const;

type TailDecision = Of<(typeof d.decisions)[number]>;

function open(decision: AnyDecision): { part: string; event: AnyEvent }[] {
  const { at, roundId, kind, weightVersion, queued } = decision as Extract<TailDecision, { type: 'round.planned' }>;
  // The notice goes to the host as well: what the parts hold must not be shared with it.
  const prompts = queued.map(copyPrompt);
  const event: AdmissionEvent = { type: 'round.opened', at, roundId, kind, weightVersion, prompts };
  return [{ part: 'admission', event }];
}

/** Short rounds with speculation, long rounds for what they defer. */
export const tailBatching = defineRecipe({
  id: 'tail-batching',
  version: 1,
  summary: 'Short rounds with speculative admission; deferred prompts are batched in long rounds.',
  source: 'RollPacker §3',
  config: tailBatchingConfig,
  parts: { queue: longPromptQueue, admission: speculativeAdmission },
  configure: ({ order, maxDeferrals, maxWaitRounds, ...admission }: TailBatchingConfig) => ({
    queue: {
      promptsPerRound: admission.promptsPerRound,
      promptSpeculation: admission.promptSpeculation,
      order,
      maxDeferrals,
      maxWaitRounds,
      domains: domainsOf(admission),
    },
    admission,
  }),
  events,
  decisions,
  deliver: (event, _, takers) => (event.type === 'reward.ready' ? [rewardTo(event)] : takers),
  vouches: { admission: ['round.opened'] },
  // A round is planned by the queue, but only the admission knows whether one may open.
  expects: (event) =>
    event.type === 'round.requested'
      ? [{ part: 'admission', event: { ...event, type: 'round.opened', kind: 'long', prompts: [] } as AdmissionEvent }]
      : [],
  routes: {
    queue: {
      'round.planned': { to: open },
      // The admission asks for what is missing: it knows what is carried over.
      'prompts.request': { out: false },
    },
  },
  ledgers: [joinedLedger('prompts'), joinedLedger('responses')],
});
