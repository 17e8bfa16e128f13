/** Efforts of a sweep. */

/** The size of a search. */
export interface SweepEffort {
  /** Seeds of the first three parts (coarse, cross, fine), a whole number >= 1. */
  readonly coarseSeeds: number;
  /** Seeds that the eight best are measured on, the coarse ones among them. */
  readonly semifinalSeeds: number;
  /** Seeds that the four best of those are measured on, including the earlier ones. */
  readonly finalSeeds: number;
  /** Seeds of the confirmation, at least 2, all of them new: intervals come from these. Its runs are longer. */
  readonly confirmationSeeds: number;
  /** Times that the search looks beside the best. */
  readonly fineRounds: number;
}

/** Efforts by name. */
export const sweepEfforts = Object.freeze({
  fast: { coarseSeeds: 1, semifinalSeeds: 2, finalSeeds: 2, confirmationSeeds: 8, fineRounds: 1 },
  default: { coarseSeeds: 2, semifinalSeeds: 4, finalSeeds: 8, confirmationSeeds: 8, fineRounds: 2 },
  thorough: { coarseSeeds: 4, semifinalSeeds: 8, finalSeeds: 16, confirmationSeeds: 24, fineRounds: 4 },
} satisfies Record<string, SweepEffort>);
/** Name of an effort. */
export type SweepEffortId = keyof typeof sweepEfforts;
