/**
 * Versions of the weights after a restart of the host: the trainer may be ahead of a snapshot, or behind it. Open rounds keep
 * what they have, and continue at the version that the host names.
 */
import { z } from 'zod';
import { weightVersion } from '../../schemas/units.ts';

/** Most restarts per round whose versions are remembered. */
const most = 64;

/** Versions at which the round continued after restarts; absent if there were none. */
export const restartVersions = z.array(weightVersion).min(1).max(most).optional();

interface OfRound {
  readonly weightVersion: number;
  restartVersions?: number[] | undefined;
}

/** Continues a round at this version. */
export function restartRoundAt(round: OfRound, version: number): void {
  if (isOfRound(round, version)) return;
  round.restartVersions = [...(round.restartVersions ?? []), version].slice(-most);
}

/** Whether a version is that of a round, or one at which the round continued after a restart. */
export function isOfRound({ weightVersion, restartVersions }: OfRound, version: number): boolean {
  return version === weightVersion || restartVersions?.includes(version) === true;
}

/** Says which versions a new round may have. */
export const olderVersion = (least: number): string =>
  `a weight version >= ${least} (after a restart from older weights, \`host.restarted\` tells theirs)`;
