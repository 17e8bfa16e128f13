/**
 * Adaptive timeouts for code in sandboxes (RollPacker §4.3): a run may take a multiple of the longest correct run of
 * its test case, so that doomed code is stopped early. See README.md.
 */
import { type Context, definePolicyByHand, type Ledger } from '../../core/definition.ts';
import { refuse } from '../../errors.ts';
import {
  sandboxLate,
  sandboxReport,
  sandboxRun,
  sandboxScored,
  sandboxUnscored,
} from '../../schemas/decisions/sandbox.ts';
import {
  sandboxCancelled,
  sandboxFinished,
  sandboxReportRequested,
  sandboxRequested,
} from '../../schemas/events/sandbox.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import type { Of } from '../../schemas/vocabulary.ts';
import { report, timeoutOf } from './report.ts';
import { timeoutConfig } from './schema.ts';
import {
  end,
  hasEnded,
  load,
  newTimeouts,
  type Run,
  type SavedTimeouts,
  save,
  type TimeoutState,
  timeoutSnapshot,
} from './state.ts';

const timeoutEvents = [
  sandboxRequested,
  sandboxFinished,
  sandboxCancelled,
  sandboxReportRequested,
  hostRestarted,
] as const;
const timeoutDecisions = [sandboxRun, sandboxScored, sandboxUnscored, sandboxLate, sandboxReport] as const;

/** What sandbox-timeout understands. */
export type TimeoutEvent = Of<(typeof timeoutEvents)[number]>;
/** What sandbox-timeout answers with. */
export type TimeoutDecision = Of<(typeof timeoutDecisions)[number]>;
type Ctx = Context<TimeoutDecision>;
type Event<T extends TimeoutEvent['type']> = Extract<TimeoutEvent, { type: T }>;
type RunReason = Extract<TimeoutDecision, { type: 'sandbox.run' }>['reason'];
type ScoredReason = Extract<TimeoutDecision, { type: 'sandbox.scored' }>['reason'];
type UnscoredReason = Extract<TimeoutDecision, { type: 'sandbox.unscored' }>['reason'];

function check(state: TimeoutState, event: TimeoutEvent): void {
  switch (event.type) {
    case 'sandbox.requested':
      if (!state.runs.has(event.runId) && !hasEnded(state, event.runId)) return;
      return refuse('duplicate_id', 'runId', 'a new run id', event.runId);
    case 'sandbox.finished':
    case 'sandbox.cancelled':
      if (state.runs.has(event.runId) || hasEnded(state, event.runId)) return;
      return refuse('unknown_id', 'runId', 'a run that was requested', event.runId);
  }
}

function apply(state: TimeoutState, event: TimeoutEvent, ctx: Ctx): void {
  switch (event.type) {
    case 'sandbox.requested':
      return requested(state, event, ctx);
    case 'sandbox.finished':
    case 'sandbox.cancelled': {
      const run = state.runs.get(event.runId);
      if (run === undefined) {
        ctx.emit({ type: 'sandbox.late', at: ctx.at, runId: event.runId, reason: { code: 'already_ended' } });
      } else if (event.type === 'sandbox.cancelled') unscored(state, run, { code: 'cancelled' }, ctx);
      else finished(state, run, event, ctx);
      return;
    }
    case 'sandbox.report.requested':
      return report(state, event.factors, ctx);
    case 'host.restarted':
      // In the order in which they were requested.
      for (const run of [...state.runs.values()]) unscored(state, run, { code: 'host_restarted' }, ctx);
  }
}

function requested(state: TimeoutState, { runId, testCaseId }: Event<'sandbox.requested'>, ctx: Ctx): void {
  const { timeoutFactor, minTimeoutSeconds, maxTimeoutSeconds, exploreEvery } = state.config;
  const anchor = state.anchors.get(testCaseId);
  let timeoutSeconds = maxTimeoutSeconds;
  let explores = false;
  let reason: RunReason;
  if (anchor === undefined) reason = { code: 'no_anchor', maxTimeoutSeconds };
  else {
    anchor.runsSinceExploration += 1;
    explores = exploreEvery > 0 && anchor.runsSinceExploration >= exploreEvery;
    if (explores) {
      anchor.runsSinceExploration = 0;
      reason = { code: 'exploration', anchorSeconds: anchor.seconds, exploreEvery };
    } else {
      timeoutSeconds = timeoutOf(state.config, timeoutFactor, anchor.seconds);
      const anchorSeconds = anchor.seconds;
      reason = { code: 'anchored', anchorSeconds, timeoutFactor, minTimeoutSeconds, maxTimeoutSeconds };
    }
  }
  const anchorSeconds = anchor === undefined ? null : anchor.seconds;
  state.runs.set(runId, { runId, testCaseId, timeoutSeconds, anchorSeconds, explores });
  ctx.emit({ type: 'sandbox.run', at: ctx.at, runId, testCaseId, timeoutSeconds, reason });
}

function finished(state: TimeoutState, run: Run, event: Event<'sandbox.finished'>, ctx: Ctx): void {
  const { outcome, seconds } = event;
  if (outcome === 'infrastructure') return unscored(state, run, { code: 'infrastructure', seconds }, ctx);
  const { runId, testCaseId, timeoutSeconds } = run;
  end(state, runId);
  remember(state, run, outcome, seconds);
  let score: 0 | 1 = 0;
  let reason: ScoredReason;
  if (outcome === 'correct') {
    score = 1;
    reason = { code: 'correct', seconds, timeoutSeconds, anchorSeconds: raiseAnchor(state, testCaseId, seconds) };
  } else if (outcome === 'wrong') reason = { code: 'wrong', seconds, timeoutSeconds };
  else {
    const { maxTimeoutSeconds } = state.config;
    reason = { code: 'timeout', seconds, timeoutSeconds, maxTimeoutSeconds };
  }
  ctx.emit({ type: 'sandbox.scored', at: ctx.at, runId, testCaseId, score, reason });
}

function raiseAnchor(state: TimeoutState, testCaseId: string, seconds: number): number {
  // It was used when the run was requested, not now.
  const anchor = state.anchors.peek(testCaseId);
  if (anchor !== undefined) {
    anchor.seconds = Math.max(anchor.seconds, seconds);
    return anchor.seconds;
  }
  const forgotten = state.anchors.set(testCaseId, { seconds, runsSinceExploration: 0 });
  if (forgotten !== undefined) state.forgotten += 1;
  return seconds;
}

/** λ decides nothing about runs without an anchor: they say nothing about another λ. */
function remember(state: TimeoutState, run: Run, outcome: 'correct' | 'wrong' | 'timeout', seconds: number): void {
  const { anchorSeconds, timeoutSeconds, explores } = run;
  if (anchorSeconds === null) return;
  state.history.push({ anchorSeconds, timeoutSeconds, seconds, outcome, explores });
  if (state.history.size > state.config.historyRuns) state.history.shift();
}

/** No fault of the code: it does not score, moves no anchor, and an exploration is made up for. */
function unscored(state: TimeoutState, run: Run, reason: UnscoredReason, ctx: Ctx): void {
  const { runId, testCaseId } = run;
  end(state, runId);
  const anchor = run.explores ? state.anchors.peek(testCaseId) : undefined;
  if (anchor !== undefined) anchor.runsSinceExploration = state.config.exploreEvery;
  ctx.emit({ type: 'sandbox.unscored', at: ctx.at, runId, testCaseId, reason });
}

const runLedger: Ledger<SavedTimeouts, TimeoutEvent, TimeoutDecision> = {
  name: 'runs',
  entered: (event) => (event.type === 'sandbox.requested' ? [event.runId] : []),
  left: (one) => (one.type === 'sandbox.scored' || one.type === 'sandbox.unscored' ? [one.runId] : []),
  held: (saved) => saved.runs.map((run) => run.runId),
};

/** Stops doomed code early: timeouts from the longest correct run of each test case. */
export const sandboxTimeout = definePolicyByHand({
  id: 'sandbox-timeout',
  version: 1,
  summary: 'Stops doomed code early: a timeout for each test case, from its longest correct run.',
  source: 'RollPacker §4.3',
  config: timeoutConfig,
  events: timeoutEvents,
  decisions: timeoutDecisions,
  state: timeoutSnapshot,
  init: newTimeouts,
  check,
  apply,
  save,
  load,
  ledgers: [runLedger],
});
