/** Describes, in words, the estimated value of the differences in a session in shadow mode. */
import type { TpWorth } from '../../sim/log-report/adaptive-tp.ts';
import type { ScaleDownWorth } from '../../sim/log-report/gpu-scale-down.ts';
import type { TimeoutWorth } from '../../sim/log-report/sandbox-timeout.ts';
import { seconds } from '../terminal/plain-table.ts';

const share = (part: number, whole: number): string => (whole === 0 ? '0%' : `${((100 * part) / whole).toFixed(1)}%`);

function ofTimeouts(worth: TimeoutWorth): string[] {
  const { runs, runSeconds, correctRuns, stoppedEarlier, savedSeconds, correctCut, letGoOn, letGoOnSeconds } = worth;
  const lines = [
    `With the timeouts of the policy, on ${runs} runs as they were (${seconds(runSeconds)} s):`,
    `- ${stoppedEarlier} doomed runs stopped earlier: ${seconds(savedSeconds)} s saved (${share(savedSeconds, runSeconds)}).`,
    `- ${correctCut} of ${correctRuns} correct runs cut: they would have scored 0.`,
  ];
  if (letGoOn > 0) {
    lines.push(
      `- ${letGoOn} runs that the host stopped let go on, ${seconds(letGoOnSeconds)} s at most: not known how they end.`,
    );
  }
  lines.push(
    '- The policy has learnt from correct runs that it would have cut; by itself its timeouts may be shorter.',
  );
  return lines;
}

function ofTp({ rounds, predictedRounds, hostSeconds, policySeconds, notLearntFrom }: TpWorth): string[] {
  const lines =
    predictedRounds === 0
      ? [`${rounds} rounds differed; the profile does not know both degrees of any of them.`]
      : [
          `Predicted by the profile, in ${predictedRounds} of ${rounds} rounds that differed (not measured):`,
          `- decode ${seconds(hostSeconds)} s with the TP of the host, ${seconds(policySeconds)} s with that of the policy.`,
        ];
  if (notLearntFrom > 0) {
    lines.push(`- ${notLearntFrom} steps ran with another TP than the policy had told: it did not learn from them.`);
  }
  return lines;
}

function ofScaleDown(worth: ScaleDownWorth): string[] {
  const { released, releasedFitted, releasedTooEarly, rejected, rejectedRightly, rejectedMightFit, unknown } = worth;
  return [
    'Judged by the lengths that the responses came to, all decoding at one pace:',
    `- ${released} releases of the policy: ${releasedFitted} fitted, ${releasedTooEarly} would have gone over the KV cache.`,
    `- ${rejected} refusals for the KV cache: ${rejectedRightly} right, ${rejectedMightFit} that might have fitted.`,
    ...(unknown > 0 ? [`- ${unknown} evaluations with responses whose end is not in the log.`] : []),
  ];
}

/** Returns lines about the value of a session; no lines if its policy has no such estimate. */
export function worthOf(policy: string, worth: object | null): string[] {
  if (worth === null) return [];
  if (policy === 'sandbox-timeout') return ofTimeouts(worth as TimeoutWorth);
  if (policy === 'adaptive-tp') return ofTp(worth as TpWorth);
  return ofScaleDown(worth as ScaleDownWorth);
}
