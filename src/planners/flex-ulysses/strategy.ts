/** The interface of a strategy: from a batch to a placement. */

import type { FlexUlyssesPlan, FlexUlyssesSettings } from '../../generated/settings/flex-ulysses.ts';
import type { Instance, Placement } from './instance.ts';

type Cut = NonNullable<FlexUlyssesPlan['cut']>;
type CutPart = Cut['parts'][number];
type CutReason = Cut['by'];

/** A placement, and its limits; absent if the strategy has no limits. */
export interface Placed {
  readonly placement: Placement;
  /** Limit on the compute of a device. */
  readonly computeLimit?: number;
  /** Limit on the tokens of a device: the requested one, or the least that was found if no plan keeps it. */
  readonly memoryCap?: number;
  /** Lower bound on the compute of any plan within the memory limit. */
  readonly computeBound?: number;
  /** Why a part of the search ended early, for each part. */
  readonly cut?: Readonly<Record<CutPart, CutReason | undefined>>;
}

/** Places a batch; a search that is late gives the best placement so far. */
export type Strategy = (instance: Instance, settings: FlexUlyssesSettings, isLate?: () => boolean) => Placed;
