/** The interface of a strategy: from a batch to a placement. */
import type { Instance, Placement } from './instance.ts';
import type { FlexUlyssesSettings } from './types.ts';

/** A placement, and its limits; absent if the strategy has no limits. */
export interface Placed {
  readonly placement: Placement;
  /** Limit on the compute of a device. */
  readonly computeLimit?: number;
  /** Limit on the tokens of a device: the requested one, or the least that was found if no plan keeps it. */
  readonly memoryCap?: number;
  /** Lower bound on the compute of any plan within the memory limit. */
  readonly computeBound?: number;
}

/** Places a batch. */
export type Strategy = (instance: Instance, settings: FlexUlyssesSettings) => Placed;
