/** Metrics of how steadily the trainer was fed (RolloutPipe §3.2, equations 2 to 4, and §5.1). */
import type { Message } from '../../schemas/messages.ts';
import type { Round } from './state.ts';

type Measures = Omit<Message<'pipeline.measured'>, 'type' | 'at' | 'reason'>;

/** Returns part ÷ whole, or 0 if the whole is 0. The result is limited to 0 to 1, because sums of seconds have rounding errors. */
const ratio = (part: number, whole: number): number => (whole > 0 ? Math.min(1, Math.max(0, part / whole)) : 0);

/** Returns the measures of a round after its training. */
export function measures({ roundId, times }: Round): Measures {
  const { openedSeconds: start, waitSeconds, computeSeconds } = times;
  const since = (at: number | null): number => Math.max(0, (at ?? start) - start);
  const rolloutSeconds = since(times.closedSeconds);
  const firstBatchSeconds = since(times.firstBatchSeconds);
  const firstDispatchSeconds = since(times.firstDispatchSeconds);
  const trainEndSeconds = since(times.lastStepSeconds);
  return {
    roundId,
    rolloutSeconds,
    firstBatchSeconds,
    firstDispatchSeconds,
    recoverySeconds: Math.max(0, rolloutSeconds - firstBatchSeconds),
    trainEndSeconds,
    waitSeconds,
    computeSeconds,
    startWaitingRatio: ratio(firstDispatchSeconds, trainEndSeconds),
    computeWaitingRatio: ratio(waitSeconds, waitSeconds + computeSeconds),
    wallClockWaitingRatio: ratio(waitSeconds, trainEndSeconds),
  };
}
