/** The interface of a strategy: from a batch to a placement. */
import type { Instance, Placement } from './instance.ts';
import type { FlexUlyssesSettings } from './types.ts';

/** A placement, and its limits; a strategy without limits leaves them out. */
export interface Placed {
  readonly placement: Placement;
  /** Most compute of a device. */
  readonly computeLimit?: number;
  /** Most tokens of a device: what was asked for, or the least that any plan needs. */
  readonly memoryCap?: number;
  /** Lower bound on the compute of any plan within the memory limit. */
  readonly computeBound?: number;
}

/** Places a batch. */
export type Strategy = (instance: Instance, settings: FlexUlyssesSettings) => Placed;
