/** What recipes that join the long-prompt queue and the speculative admission have in common. */
import type { AnyEvent } from '../../core/definition.ts';
import type { Delivery } from '../../core/recipe.ts';

/** A reward goes to the part that holds its response: to the queue, if a prompt that waits there keeps it. */
export function rewardTo(event: AnyEvent): Delivery {
  return { part: 'queue', event, otherwise: [{ part: 'admission', event }] };
}

/** The domains of the source, as the queue wants to know them. */
export function domainsOf({ quotas }: { quotas?: Readonly<Record<string, number>> | undefined }): string[] | undefined {
  return quotas === undefined ? undefined : Object.keys(quotas).sort();
}
