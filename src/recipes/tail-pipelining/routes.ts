/** Routes of events from outside, and of decisions that become events of other parts. */
import type { AnyEvent } from '../../core/machine/definition.ts';
import type { Delivery, Recipient } from '../../core/recipe/spec.ts';
import type { TailPipeliningConfig } from '../../generated/settings/tail-pipelining.ts';
import type { VocabularyEvent } from '../../schemas/events/index.ts';
import type { Message } from '../../schemas/messages.ts';
import { consumed } from '../rolloutpipe/routes.ts';
import { openings, released } from '../tail-batching/joined.ts';

export type PartName = 'queue' | 'admission' | 'frontier' | 'assembly' | 'pipelining';

/** Returns the parts that get an event from outside. */
export function deliver(
  event: AnyEvent,
  config: TailPipeliningConfig,
  recipients: readonly string[],
): readonly Recipient[] {
  switch (event.type) {
    case 'response.failed':
    case 'request.aborted':
      return failed(event as Extract<VocabularyEvent, { requestId: string }>);
    case 'reward.ready':
    case 'reward.failed':
      // The admission needs rewards only if it filters by them; the queue needs none, because none of its prompts keeps a
      // response.
      return config.filter === 'zero-variance' ? ['assembly', 'admission'] : ['assembly'];
    case 'round.failed':
      // A round that the admission has completed may still fail in the trainer.
      return [{ part: 'admission', event, otherwise: [] }, 'assembly', 'pipelining'];
    case 'host.restarted':
      return [...recipients.filter((name) => name === 'frontier'), ...recipients.filter((name) => name !== 'frontier')];
    default:
      return recipients;
  }
}

/** Ends a try in the frontier in any case, before the frontier gets the next try or learns that there is none. */
function failed(event: Extract<VocabularyEvent, { requestId: string }>): Recipient[] {
  const { at, requestId } = event;
  const over = { type: 'response.failed', at, requestId, kind: 'infrastructure' } as AnyEvent;
  return ['admission', { part: 'frontier', event: over }];
}

/** Parts that open rounds, beside the admission. */
export const openIn: readonly PartName[] = ['pipelining'];

/** Aborts a request in the frontier before a slot becomes free, so that the request is no longer admitted. */
function aborted(event: Message<'request.abort'>): Delivery[] {
  return [{ part: 'frontier', event, first: true }];
}

/** Takes a response back in the frontier before the frontier learns of the response's completion or next try. */
function takenBack(event: Message<'response.dropped'>, _: unknown, recipients: readonly string[]): Recipient[] {
  return recipients.map((part) => (part === 'frontier' ? ({ part, event, first: true } as Delivery) : part));
}

/** Confirms the abort of a request that no engine ever got: no other report would confirm it. */
function dropped({ at, requestId, admitted, reason }: Message<'request.dropped'>): Delivery[] {
  const isOver = !admitted && (reason.code === 'aborted' || reason.code === 'closed');
  return isOver ? [{ part: 'admission', event: { type: 'request.aborted', at, requestId } as AnyEvent }] : [];
}

/** Does not pass on rounds that the host has failed: the host itself tells the trainer. */
function rewarded({ reason }: Message<'round.rewarded'>): readonly string[] {
  return reason.code === 'round_failed' ? [] : ['pipelining'];
}

/** Routes by part, then by decision. */
export const routes = {
  queue: {
    'round.planned': { to: (round: Message<'round.planned'>) => openings(round, openIn) },
    'prompts.released': released,
    // Stays inside: the admission asks for the missing prompts, because only the admission knows which prompts it has.
    'prompts.request': { out: false },
  },
  admission: {
    // With a frontier, `request.admit` tells the host when to launch.
    'request.launch': { out: ({ frontier }: TailPipeliningConfig) => !frontier },
    'request.abort': { to: aborted },
    'response.dropped': { to: takenBack },
  },
  frontier: {
    'request.dropped': { to: dropped },
    // Stays inside: the admission reports late responses, because it knows every request.
    'response.late': { out: false },
  },
  assembly: { 'round.rewarded': { to: rewarded } },
  pipelining: { 'optimizer.step': { to: consumed } },
};
