/** Reports the cost and the savings of other timeouts, computed from remembered runs. */

import type { Context } from '../../core/machine/definition.ts';
import { timeoutOf } from '../../core/rollout/adaptive-timeout.ts';
import type { SandboxTimeoutConfig } from '../../generated/settings/sandbox-timeout.ts';
import type { Message } from '../../schemas/messages.ts';
import type { TimeoutEstimate } from '../../schemas/sandbox.ts';
import { ruleOf } from './schema.ts';
import type { PastRun, TimeoutState } from './state.ts';

const usualFactors: readonly number[] = [1, 1.25, 1.5, 2, 3, 4, 6, 8, 16];

/** Returns the seconds that a run would take under another limit; a stopped run is assumed to have continued. */
function secondsUnder(run: PastRun, limitSeconds: number): number {
  return run.outcome === 'timeout' ? limitSeconds : Math.min(run.seconds, limitSeconds);
}

function estimate(config: SandboxTimeoutConfig, history: readonly PastRun[], timeoutFactor: number): TimeoutEstimate {
  const rule = { ...ruleOf(config), factor: timeoutFactor };
  let correctKilled = 0;
  let exploredKilled = 0;
  let unknown = 0;
  let runSeconds = 0;
  for (const run of history) {
    const limitSeconds = timeoutOf(rule, run.anchorSeconds);
    if (run.outcome === 'correct' && run.seconds > limitSeconds) {
      correctKilled += 1;
      if (run.explores) exploredKilled += 1;
    }
    if (run.outcome === 'timeout' && limitSeconds > run.timeoutSeconds) unknown += 1;
    runSeconds += secondsUnder(run, limitSeconds);
  }
  return { timeoutFactor, correctKilled, exploredKilled, unknown, runSeconds };
}

/** Answers a request for a report; linear in the history, which is bounded. */
export function report(
  state: TimeoutState,
  { factors }: Message<'sandbox.report.requested'>,
  ctx: Context<Message<'sandbox.report'>>,
): void {
  const { config } = state;
  const history = [...state.history];
  const explored = history.filter((run) => run.explores);
  const correctIn = (runs: readonly PastRun[]): number => runs.filter((run) => run.outcome === 'correct').length;
  const secondsOf = (limit: (run: PastRun) => number): number => history.reduce((sum, run) => sum + limit(run), 0);
  ctx.emit({
    type: 'sandbox.report',
    at: ctx.at,
    runs: history.length,
    correctRuns: correctIn(history),
    exploredRuns: explored.length,
    exploredCorrectRuns: correctIn(explored),
    runSeconds: secondsOf((run) => run.seconds),
    fixedSeconds: secondsOf((run) => secondsUnder(run, config.maxTimeoutSeconds)),
    estimates: (factors ?? usualFactors).map((factor) => estimate(config, history, factor)),
    testCases: state.anchors.size,
    forgottenTestCases: state.forgotten,
    reason: { code: 'requested', historyRuns: config.historyRuns },
  });
}
