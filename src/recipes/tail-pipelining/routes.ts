/** Which part gets what: events from outside, and decisions of one part that are events of others. */
import type { AnyDecision, AnyEvent } from '../../core/definition.ts';
import type { Delivery, Route } from '../../core/recipe.ts';
import type { VocabularyDecision } from '../../schemas/decisions/index.ts';
import type { VocabularyEvent } from '../../schemas/events/index.ts';
import { copyPrompt } from '../../schemas/prompts.ts';
import { consumed } from '../rolloutpipe/routes.ts';
import type { TailPipeliningConfig } from './schema.ts';

export type PartName = 'queue' | 'admission' | 'frontier' | 'assembly' | 'pipelining';
type Decision<T extends VocabularyDecision['type']> = Extract<VocabularyDecision, { type: T }>;
type AnyRoute = Route<AnyDecision, TailPipeliningConfig>;

/** Which parts get an event from outside. */
export function deliver(
  event: AnyEvent,
  config: TailPipeliningConfig,
  takers: readonly string[],
): readonly (string | Delivery)[] {
  const served = config.frontier ? takers : takers.filter((name) => name !== 'frontier');
  switch (event.type) {
    case 'response.failed':
    case 'request.aborted':
    case 'environment.failed':
      return failed(event as Extract<VocabularyEvent, { requestId: string }>, config);
    case 'reward.ready':
    case 'reward.failed':
      // A reward is of use to the admission where it filters by it; no prompt of the queue keeps a response.
      return config.filter === 'zero-variance' ? ['assembly', 'admission'] : ['assembly'];
    case 'round.failed':
      // A round that has left the admission may still fail in the trainer.
      return [{ part: 'admission', event, ifTaken: true }, 'assembly', 'pipelining'];
    case 'host.restarted':
      return config.frontier ? ['frontier', ...takers.filter((name) => name !== 'frontier')] : served;
    default:
      return served;
  }
}

/** For the frontier all ends of a try are one; it hears that the try is over before it hears of the next one, or that there is none. */
function failed(
  event: Extract<VocabularyEvent, { requestId: string }>,
  { frontier }: TailPipeliningConfig,
): Delivery[] {
  const { at, requestId } = event;
  const over = { type: 'response.failed', at, requestId, kind: 'infrastructure' } as AnyEvent;
  return [{ part: 'admission', event }, ...(frontier ? [{ part: 'frontier', event: over }] : [])];
}

/** The events that open a round: asked of both parts before one is planned. */
export function openings(
  { at, roundId, weightVersion }: Pick<Decision<'round.planned'>, 'at' | 'roundId' | 'weightVersion'>,
  kind: 'short' | 'long',
  queued: Decision<'round.planned'>['queued'],
): Delivery[] {
  const opened = { type: 'round.opened', at, roundId, kind, weightVersion } as const;
  const to = (part: PartName, event: VocabularyEvent): Delivery => ({ part, event: event as AnyEvent });
  // Parts share nothing with the host, nor with each other.
  return [
    to('pipelining', { ...opened, prompts: [] }),
    to('admission', { ...opened, prompts: queued.map(copyPrompt) }),
  ];
}

const into =
  (...parts: PartName[]) =>
  (event: AnyDecision, config: TailPipeliningConfig): Delivery[] =>
    parts.flatMap((part) => (part === 'frontier' && !config.frontier ? [] : [{ part, event }]));
const out = (...parts: PartName[]): AnyRoute => ({ out: true, into: into(...parts) });

function opened(decision: Decision<'round.planned'>): Delivery[] {
  return openings(decision, decision.kind, decision.queued);
}

/** Nothing that is aborted may still be admitted: the frontier hears of that before a slot becomes free. */
function aborted(decision: Decision<'request.abort'>, config: TailPipeliningConfig): Delivery[] {
  return into('frontier')(decision, config).map((one) => ({ ...one, first: true }));
}

/** A request that never came to an engine need not be stopped there: nobody else would confirm its abort. */
function dropped({ at, requestId, admitted, reason }: Decision<'request.dropped'>): Delivery[] {
  const isOver = !admitted && (reason.code === 'aborted' || reason.code === 'closed');
  return isOver ? [{ part: 'admission', event: { type: 'request.aborted', at, requestId } as AnyEvent }] : [];
}

/** The trainer is told of a round that has failed by the host. */
function rewarded(decision: Decision<'round.rewarded'>, config: TailPipeliningConfig): Delivery[] {
  return decision.reason.code === 'round_failed' ? [] : into('pipelining')(decision, config);
}

/** By part, then by decision. */
export const routes: Readonly<Record<PartName, Readonly<Record<string, AnyRoute>>>> = {
  queue: {
    'round.planned': { out: true, into: opened as never },
    // The admission asks for what is missing: it knows what it has.
    'prompts.request': { out: false },
    'prompt.merged': out('assembly'),
  },
  admission: {
    // With a frontier, `request.admit` says when.
    'request.launch': { out: ({ frontier }) => !frontier, into: into('frontier') },
    'request.abort': { out: true, into: aborted as never },
    'response.abandoned': out('frontier'),
    'response.accepted': out('assembly'),
    'response.dropped': out('assembly'),
    'prompt.collected': out('frontier'),
    'prompt.counted': out('assembly'),
    'prompt.deferred': out('queue', 'assembly', 'frontier'),
    'prompt.returned': out('queue', 'assembly'),
    'prompt.filtered': out('assembly'),
    'prompt.quarantined': out('assembly', 'frontier'),
    'prompt.merged': out('assembly'),
    'round.completed': out('assembly', 'frontier'),
  },
  frontier: {
    'request.dropped': { out: true, into: dropped as never },
    // The admission says what is late: it knows every request.
    'response.late': { out: false },
    // The admission launches again what it needs.
    'request.awaited': { out: false },
  },
  assembly: {
    'group.rewarded': out('pipelining'),
    'round.rewarded': { out: true, into: rewarded as never },
    'round.resumed': { out: false },
  },
  pipelining: {
    'optimizer.step': {
      out: true,
      into: (decision, { frontier }) => (frontier ? consumed(decision as never) : []),
    },
    'round.resumed': { out: false },
  },
};
