/** Routes of events from outside, and of decisions that become events of other parts. */
import type { AnyEvent } from '../../core/machine/definition.ts';
import type { Delivery } from '../../core/recipe/spec.ts';
import type { Message } from '../../schemas/messages.ts';

/** Returns the parts that get an event from outside. */
export function deliver({ type }: AnyEvent, _: unknown, recipients: readonly string[]): readonly string[] {
  if (type === 'round.opened') return ['pipelining', 'collection'];
  // After a restart, the frontier comes first, because it names the requests that it gives up.
  if (type === 'host.restarted' || !recipients.includes('frontier')) return recipients;
  // The collection comes first: it must keep a response before the group may leave the frontier.
  return ['collection', ...recipients.filter((name) => name !== 'collection')];
}

/** Tells the frontier once that an update was consumed, even if it was reported several times. */
export function consumed(decision: Message<'optimizer.step'>): Delivery[] {
  const { at, updateId, groups = [], samples, tokens, reason } = decision;
  if (reason.code !== 'update_consumed') return [];
  const { seconds } = reason;
  const replica = 'trainer';
  const event = {
    type: 'train.consumed',
    at,
    fetchId: updateId,
    replica,
    groups: [...groups],
    samples,
    tokens,
    seconds,
  };
  return [{ part: 'frontier', event }];
}

/**
 * Ends an aborted request in the frontier at once, even before an engine has stopped the request, because the prompt of a failed
 * round may come again at once.
 */
const aborted = ({ at, requestId }: Message<'request.abort'>): Delivery[] => [
  { part: 'frontier', event: { type: 'request.aborted', at, requestId } as AnyEvent },
];

/** Does not pass on rounds that the host has failed: the host itself tells the trainer. */
function rewarded({ reason }: Message<'round.rewarded'>): readonly string[] {
  return reason.code === 'round_failed' ? [] : ['pipelining', 'collection'];
}

/** Routes by part, then by decision. */
export const routes = {
  collection: {
    'request.abort': { to: aborted },
    // The frontier must know that the round is over, to refuse its later requests.
    'round.completed': { to: ['assembly', 'frontier'] },
  },
  assembly: {
    'group.rewarded': { to: ['pipelining', 'collection'] },
    'round.rewarded': { to: rewarded },
  },
  pipelining: { 'optimizer.step': { to: consumed } },
};
