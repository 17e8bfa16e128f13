/** Shared by recipes in which a part holds prompts for the speculative admission. */

import type { AnyDecision, AnyEvent, AnyPolicyDefinition, Ledger } from '../../core/machine/definition.ts';
import type { Delivery, SavedRecipe } from '../../core/recipe/spec.ts';
import { copyPrompt } from '../../core/rollout/prompts.ts';
import { speculativeAdmission } from '../../policies/speculative-admission/index.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Prompt } from '../../schemas/prompts.ts';

const none: readonly string[] = Object.freeze([]);

type Joined = Ledger<SavedRecipe, AnyEvent, AnyDecision>;

/**
 * Joins the ledgers of the part `admission` and of parts that hold prompts for it: an item that goes from one part to another has
 * not left the recipe.
 *
 * @param holders - the parts that hold prompts, by their names
 * @param idsPerRequest - ids that the recipe mints per response, including the request id
 */
export function joinedLedger(
  name: 'prompts' | 'responses',
  holders: Readonly<Record<string, AnyPolicyDefinition>>,
  idsPerRequest = 1,
): Joined {
  const of = (ledgers: readonly Ledger[]): Ledger => ledgers.find((one) => one.name === name)!;
  const admission = of(speculativeAdmission.ledgers as never);
  // Nothing leaves with `round.planned`, which goes the opposite way: the ledgers of the admission ignore it.
  const handedOver = new Set(['prompt.deferred', 'prompt.returned']);
  return {
    name,
    entered: admission.entered,
    left: (decision) => {
      if (decision.type === 'prompts.passed') return of(holders.selection!.ledgers as never).left(decision);
      if (!handedOver.has(decision.type)) return admission.left(decision);
      const { dropped } = decision as unknown as { dropped: readonly { requestId: string }[] };
      return name === 'responses' ? dropped.map((one) => one.requestId) : none;
    },
    mints: (config) => idsPerRequest * (admission.mints?.(config) ?? 0),
    held: ({ parts }) => [
      ...admission.held(parts.admission!.state),
      ...Object.entries(holders).flatMap(([part, { ledgers }]) => of(ledgers as never).held(parts[part]!.state)),
    ],
  };
}

type PlannedRound = Pick<Message<'round.planned'>, 'at' | 'roundId' | 'kind' | 'weightVersion' | 'queued'>;

/** Returns the events that open a planned round: in the admission with its prompts, and in other parts without. */
export function openings(round: PlannedRound, others: readonly string[] = []): Delivery[] {
  const { at, roundId, kind, weightVersion, queued } = round;
  const to = (part: string, prompts: PlannedRound['queued']): Delivery => ({
    part,
    event: { type: 'round.opened', at, roundId, kind, weightVersion, prompts } as AnyEvent,
  });
  // Each part gets its own list: parts share nothing with the host or with each other.
  return [...others.map((part) => to(part, [])), to('admission', queued.map(copyPrompt))];
}

/** Route of a round that the queue or the composition has planned. */
export const planned = { to: (round: Message<'round.planned'>) => openings(round) };

/** Route of prompts that the queue gives to the open round: the admission has them before it learns that the source is exhausted. */
export const released = {
  to: ({ at, roundId, queued }: Message<'prompts.released'>): Delivery[] => {
    const event = { type: 'prompts.supplied', at, roundId, prompts: queued.map(copyPrompt) } as AnyEvent;
    return [{ part: 'admission', event, first: true }];
  },
};

type Entries = ReadonlyMap<string, { readonly prompt: Prompt }>;

/** The parts that may hold prompts for the next round: `queue` or `composition`. */
interface Holders {
  readonly queue?: { readonly entries: Entries; readonly unused: ReadonlyMap<string, Prompt> };
  readonly composition?: { readonly window: Entries; readonly due: ReadonlyMap<string, Prompt> };
}

/** Returns any prompt that waits for the next round: one waiting prompt is enough to open a round. */
function anyPrompt({ queue, composition }: Holders): Prompt[] {
  for (const prompts of [queue?.unused, composition?.due])
    for (const prompt of prompts?.values() ?? []) return [prompt];
  for (const entries of [queue?.entries, composition?.window]) {
    for (const { prompt } of entries?.values() ?? []) return [prompt];
  }
  return [];
}

/**
 * Returns the events that these parts have to accept before another part plans a round, because only these parts know whether a
 * round may open.
 *
 * @param parts - the states of the parts
 * @param others - the parts that open rounds, beside the admission
 */
export function expectedOpenings(
  event: AnyEvent,
  parts: Readonly<Record<string, unknown>>,
  others?: readonly string[],
): Delivery[] {
  if (event.type !== 'round.requested') return [];
  const queued = anyPrompt(parts as Holders);
  return openings({ ...(event as Message<'round.requested'>), kind: 'long', queued }, others);
}

/** Routes a reward to the part that holds its response: the queue, if a prompt that waits there keeps the response. */
export function rewardTo(event: AnyEvent): Delivery {
  return { part: 'queue', event, otherwise: [{ part: 'admission', event }] };
}

/**
 * Routes prompts, or the end of a round: prompts that replace others in an open round go to the admission, all other prompts to the
 * window of the composition.
 */
export function suppliedTo(event: AnyEvent): Delivery {
  return { part: 'admission', event, otherwise: [{ part: 'composition', event }] };
}

/** Returns the domains of the source, in the form that the queue takes. */
export function domainsOf({ quotas }: { quotas?: Readonly<Record<string, number>> | undefined }): string[] | undefined {
  return quotas === undefined ? undefined : Object.keys(quotas).sort();
}
