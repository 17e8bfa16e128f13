/** Measured rates: how fast groups are completed, and how fast replicas train. Older measurements count less. */
import type { Replica, Round, StreamTrainingState } from './state.ts';

/** Weight of the newest interval between two completed groups. */
const gapWeight = 0.1;
/** Factor on the weight of older work when new work is measured. */
const paceMemory = 0.75;

/** Updates the rate of production by a completed group. */
export function measureGap(round: Round, at: number): void {
  if (round.lastSeconds !== null) {
    const gap = at - round.lastSeconds;
    round.gapSeconds = round.gapSeconds === null ? gap : round.gapSeconds + gapWeight * (gap - round.gapSeconds);
  }
  round.lastSeconds = at;
}

/** Updates the rates of consumption by finished work. Work without tokens or seconds is ignored. */
export function measurePace(state: StreamTrainingState, replica: Replica, tokens: number, seconds: number): void {
  if (tokens === 0 || seconds === 0) return;
  for (const pace of [replica, state]) {
    pace.paceSeconds = paceMemory * pace.paceSeconds + seconds;
    pace.paceTokens = paceMemory * pace.paceTokens + tokens;
  }
}

/**
 * Returns the seconds per token of a replica; those of all replicas if it was never measured; `undefined` before any measurement.
 */
export function secondsPerToken(state: StreamTrainingState, replica: Replica): number | undefined {
  // Short responses take longer per token, so with `replica`, chance differences in length look like differences in speed.
  const pace = replica.paceTokens > 0 && state.config.pace === 'replica' ? replica : state;
  return pace.paceTokens > 0 ? pace.paceSeconds / pace.paceTokens : undefined;
}

/** Returns the seconds that a replica still needs for its work. */
export function busySeconds(replica: Replica, perToken: number, at: number): number {
  let seconds = 0;
  for (const work of replica.works) {
    const ran = work.startedSeconds === null ? 0 : at - work.startedSeconds;
    seconds += Math.max(0, work.tokens * perToken - ran);
  }
  return seconds;
}

/** Returns the expected seconds until all groups of the round are complete, or `undefined` before any interval is measured. */
export function restSeconds(round: Round, groupsPerRound: number): number | undefined {
  if (round.gapSeconds === null) return undefined;
  return Math.max(0, groupsPerRound - round.groups.size) * round.gapSeconds;
}
