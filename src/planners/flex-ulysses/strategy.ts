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
  /** Limit on the tokens of a device: the requested limit, or the least limit found if no plan keeps the requested one. */
  readonly memoryCap?: number;
  /** Lower bound on the compute of any plan within the memory limit. */
  readonly computeBound?: number;
  /** Steps that the search took. */
  readonly steps?: number;
  /** For each part of the search that ended early, the reason. */
  readonly cut?: Readonly<Record<CutPart, CutReason | undefined>>;
}

/** Places a batch; once the search is late, returns the best placement so far. */
export type Strategy = (instance: Instance, settings: FlexUlyssesSettings, isLate?: () => boolean) => Placed;
