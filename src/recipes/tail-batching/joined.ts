/** The common part of recipes in which a part holds prompts for the speculative admission. */
import type { AnyDecision, AnyEvent, AnyPolicyDefinition, Ledger } from '../../core/definition.ts';
import type { Delivery, SavedRecipe } from '../../core/recipe.ts';
import { speculativeAdmission } from '../../policies/speculative-admission/index.ts';

const none: readonly string[] = Object.freeze([]);

type Joined = Ledger<SavedRecipe, AnyEvent, AnyDecision>;

/**
 * Joins the ledgers of the part `admission` and of parts that hold prompts for it: items that go from one part to another have not
 * left the recipe.
 *
 * @param holders - the parts that hold prompts, by their names
 * @param idsPerRequest - ids that the recipe mints for a response, including that of its request
 */
export function joinedLedger(
  name: 'prompts' | 'responses',
  holders: Readonly<Record<string, AnyPolicyDefinition>>,
  idsPerRequest = 1,
): Joined {
  const of = (ledgers: readonly Ledger[]): Ledger => ledgers.find((one) => one.name === name)!;
  const admission = of(speculativeAdmission.ledgers as never);
  // Nothing leaves with `round.planned`, the way back, either: the ledgers of the admission ignore it.
  const handedOver = new Set(['prompt.deferred', 'prompt.returned']);
  return {
    name,
    entered: (event) => admission.entered(event),
    left: (decision) => {
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

/** Routes a reward to the part that holds its response. This is the queue if a prompt that waits there keeps the response. */
export function rewardTo(event: AnyEvent): Delivery {
  return { part: 'queue', event, otherwise: [{ part: 'admission', event }] };
}

/** Returns the domains of the source, in the form that the queue takes. */
export function domainsOf({ quotas }: { quotas?: Readonly<Record<string, number>> | undefined }): string[] | undefined {
  return quotas === undefined ? undefined : Object.keys(quotas).sort();
}
