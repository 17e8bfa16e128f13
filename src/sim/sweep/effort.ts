/** Efforts of a sweep. */

/** The size of a search. */
export interface SweepEffort {
  /** Number of seeds in the first three parts (coarse, cross, fine), a whole number >= 1. */
  readonly coarseSeeds: number;
  /** Number of seeds for the eight best settings, including the coarse ones. */
  readonly semifinalSeeds: number;
  /** Number of seeds for the four best of these settings, including earlier seeds. */
  readonly finalSeeds: number;
  /** Number of new seeds for the confirmation, at least 2, because the intervals come from these. The runs are longer. */
  readonly confirmationSeeds: number;
  /**
   * Most rounds of the fine search; each round tries the neighbours of the two best settings, except settings whose neighbours were
   * tried before.
   */
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
