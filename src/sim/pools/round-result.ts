/** The result of a round on pools: observations of the host, and measurements of the policies. */
import { refuse } from '../../errors.ts';
import type { RoundRecord } from '../cluster/round-record.ts';
import type { PoolsRound } from './result.ts';

/** Facts about a round that only the host knows. */
export interface RoundFrame
  extends Pick<PoolsRound, 'startSeconds' | 'endSeconds' | 'preemptions' | 'bubbleRatio' | 'lag'> {
  /** Whether a width says something. */
  readonly hasFrontier: boolean;
}

/** Returns the result of a round that is over. */
export function roundResult(record: RoundRecord, frame: RoundFrame): PoolsRound {
  const { measured, openedSeconds, width } = record;
  const { startSeconds, endSeconds, preemptions, bubbleRatio, lag, hasFrontier } = frame;
  if (measured === undefined) refuse('internal', '', 'a round that was measured', record.roundId);
  const mainSeconds = measured.trainEndSeconds;
  return {
    round: record.step,
    kind: record.kind,
    startSeconds,
    endSeconds,
    mainSeconds,
    rolloutSeconds: record.completedAt - openedSeconds,
    rewardedSeconds: measured.rolloutSeconds,
    firstBatchSeconds: measured.firstBatchSeconds,
    firstDispatchSeconds: measured.firstDispatchSeconds,
    recoverySeconds: measured.recoverySeconds,
    waitSeconds: measured.waitSeconds,
    computeSeconds: measured.computeSeconds,
    startWaitingRatio: measured.startWaitingRatio,
    computeWaitingRatio: measured.computeWaitingRatio,
    wallClockWaitingRatio: measured.wallClockWaitingRatio,
    publishSeconds: Math.max(0, endSeconds - openedSeconds - mainSeconds),
    groups: measured.reason.groups,
    updates: measured.reason.updates,
    responses: record.keptResponses,
    tokens: record.keptTokens,
    maxResponseTokens: record.longest,
    cappedResponses: record.capped,
    preemptions,
    bubbleRatio,
    mostInService: record.mostInService,
    ...(width === undefined || !hasFrontier ? {} : { width }),
    starved: record.starved,
    lag,
  };
}
