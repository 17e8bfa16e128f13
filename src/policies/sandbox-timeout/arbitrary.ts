/** Likely next events, for property tests: runs are requested, end, end twice or too late, and the host restarts. */

import type { Choices } from '../../core/generators/choices.ts';
import type { SandboxTimeoutEvent } from '../../generated/settings/sandbox-timeout.ts';
import type { TimeoutState } from './state.ts';

/** Draws a likely next event. */
export function arbitrary(state: TimeoutState, choices: Choices): SandboxTimeoutEvent {
  const at = choices.below(100);
  const runs = [...state.runs.keys()];
  const ended = [...state.ended.older, ...state.ended.newer];
  const known = choices.below(6) === 0 && ended.length > 0 ? ended : runs;
  const runId = known[choices.below(Math.max(1, known.length))] ?? `late${choices.below(3)}`;
  switch (choices.below(12)) {
    case 0:
      return { type: 'sandbox.report.requested', at };
    case 1:
      return { type: 'sandbox.cancelled', at, runId };
    case 2:
      if (choices.below(3) > 0) break;
      return { type: 'host.restarted', at, idPrefix: `h${choices.below(5)}-` };
    case 3:
    case 4:
    case 5:
    case 6: {
      const outcome = (['correct', 'correct', 'wrong', 'timeout', 'infrastructure'] as const)[choices.below(5)]!;
      return { type: 'sandbox.finished', at, runId, outcome, seconds: choices.below(80) / 4 };
    }
  }
  return { type: 'sandbox.requested', at, runId: `run${choices.below(400)}`, testCaseId: `case${choices.below(6)}` };
}
