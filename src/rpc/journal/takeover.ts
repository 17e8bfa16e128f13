/** Continues the steps of a crashed server, by the same version or a later one that decides in the same way. */
import type { AnyDecision } from '../../core/machine/definition.ts';
import { isPolicyError, refuse } from '../../errors.ts';
import type { Entry, SavedSession } from './entries.ts';
import type { Seals } from './seals.ts';
import type { Journaled } from './session-journal.ts';

/** The writer of the steps, and the version that replays them. */
export interface Takeover {
  readonly writer: string;
  readonly version: string;
  /** Computes the digests that the steps have; absent for steps without digests. */
  readonly digest: Seals['digest'];
}

/**
 * Whether a version may replay the steps of the version that wrote them: the same version, or a later version that promises
 * compatibility: one with the same major version or, before 1.0, with the same or the next minor version. Pre-releases replay
 * only their own steps.
 */
function mayReplay(writer: string, version: string): boolean {
  if (writer === version) return true;
  const [from, to] = [numbersOf(writer), numbersOf(version)];
  if (from === undefined || to === undefined || from[0] !== to[0]) return false;
  const minors = to[1] - from[1];
  if (minors === 0) return to[2] >= from[2];
  return minors > 0 && (from[0] > 0 || minors === 1);
}

function numbersOf(version: string): [major: number, minor: number, patch: number] | undefined {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)$/.exec(version) ?? [];
  return patch === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
}

const instead = ({ writer, version }: Takeover): string =>
  `version ${version}: start and stop version ${writer} once, then this one`;

/** Throws `snapshot_mismatch` for the steps of a version that this one may not replay. */
export function checkVersion(takeover: Takeover): void {
  const { writer, version, digest } = takeover;
  if (writer === version || (digest !== undefined && mayReplay(writer, version))) return;
  const versions = digest !== undefined ? `version ${writer} or a compatible later one` : `version ${writer}`;
  const expected = `${versions}, because the last server was not stopped in an orderly way`;
  refuse('snapshot_mismatch', 'stateDir', expected, instead(takeover));
}

/** Replays steps in a session. Throws `snapshot_mismatch` if a step decides differently than before. */
export function replay(session: Journaled, saved: SavedSession, entries: readonly Entry[], takeover: Takeover): void {
  const { writer, version, digest } = takeover;
  for (const [index, entry] of entries.entries()) {
    const differs = difference(session, entry, digest);
    if (differs === undefined) continue;
    const step = `step ${index + 1} of ${entries.length} of session ${saved.session} (${saved.snapshot.policy})`;
    const own = `other code of the policy: start and stop the code that decided it once, then this`;
    const expected = `${step} as version ${writer} decided it, but ${differs}`;
    refuse('snapshot_mismatch', 'stateDir', expected, writer === version ? own : instead(takeover));
  }
}

/** Replays a step, and returns how its result differs from before; `undefined` if it does not. */
function difference(session: Journaled, entry: Entry, digest: Seals['digest']): string | undefined {
  let decisions: readonly AnyDecision[];
  try {
    decisions = session.replay(entry);
  } catch (error) {
    if (!isPolicyError(error)) throw error;
    return `it is refused now (${error.code}, ${error.message})`;
  }
  if (entry.kind === 'acknowledged' || digest === undefined || digest(decisions) === entry.digest) return undefined;
  return 'its decisions are others now';
}
