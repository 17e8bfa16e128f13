/** Likely next events of adaptive-tp, for property tests; among them repeated steps, and steps with another parallelism. */

import type { Choices } from '../../core/generators/choices.ts';
import type { AdaptiveTpEvent } from '../../generated/settings/adaptive-tp.ts';
import type { ProfileConfiguration, RolloutWorkload } from '../../schemas/parallelism.ts';
import { expertDegreesOf } from './schema.ts';
import type { TpState } from './state.ts';

export function arbitrary(state: TpState, choices: Choices): AdaptiveTpEvent {
  const at = choices.below(100);
  const kind = choices.below(3) === 0 ? 'long' : 'short';
  const { tp, ep } =
    choices.below(8) === 0 ? other(state, choices) : (state.kinds[kind].current ?? other(state, choices));
  const parallelism = ep === undefined ? { tp } : { tp, ep };
  const roundId = choices.below(8) === 0 ? (state.recentRounds.newest ?? 'r') : `r${choices.below(100_000)}`;
  switch (choices.below(16)) {
    case 0:
    case 1: {
      const reason = { code: 'queue_full', queued: 1, promptsPerRound: 1 } as const;
      return { type: 'round.planned', at, roundId, kind, weightVersion: 0, queued: [], reason };
    }
    case 2:
      if (state.round !== null && choices.below(3) === 0)
        return { type: 'round.failed', at, roundId: state.round.roundId };
      return { type: 'host.restarted', at, idPrefix: `h${choices.below(10)}` };
    case 3:
      return { type: 'kind-tp.failed', at, kind, ...parallelism };
    case 4:
    case 5:
      return {
        type: 'profile.observed',
        at,
        roundId,
        ...point(parallelism, choices),
        decodeStepSeconds: 0.01 + choices.below(9) / 100,
      };
    case 6: {
      const measured = {
        decodeStepSeconds: 0.01 + choices.below(9) / 100,
        prefillSeconds: 0.1,
        bytes: choices.below(90),
      };
      return { type: 'profile.measured', at, rows: [{ ...point(parallelism, choices), ...measured }] };
    }
    default: {
      const preemptions = Math.max(0, choices.below(60) - 30);
      const seconds = 1 + choices.below(50);
      return {
        type: 'step.finished',
        at,
        roundId,
        kind,
        ...parallelism,
        preemptions,
        seconds,
        workload: workload(choices),
      };
    }
  }
}

function other(state: TpState, choices: Choices): { tp: number; ep?: number } {
  const tp = state.degrees[choices.below(state.degrees.length)]!;
  const degrees = expertDegreesOf(tp, state.config.experts);
  return degrees.length === 0 ? { tp } : { tp, ep: degrees[choices.below(degrees.length)]! };
}

function point(parallelism: { tp: number; ep?: number }, choices: Choices): ProfileConfiguration {
  return { ...parallelism, batchSize: 1 + choices.below(4), sequenceLength: 1 + choices.below(3) };
}

function workload(choices: Choices): RolloutWorkload {
  const responseTokens = 1 + choices.below(6);
  // Rarely less than the mean; the policy refuses that.
  const longestTokens = responseTokens + choices.below(20) - (choices.below(30) === 0 ? responseTokens - 1 : 0);
  const skew = choices.below(4) === 0 ? { routingSkew: 1 + choices.below(3) / 2 } : undefined;
  return { responses: 4 + choices.below(2), promptTokens: 2, responseTokens, longestTokens, ...skew };
}
