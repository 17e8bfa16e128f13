/**
 * Adaptive timeouts for code in sandboxes (RollPacker §4.3): a run may take a multiple of the longest correct run of the same
 * test case, so that doomed code is stopped early. See README.md.
 */

import {
  type Context,
  definePolicy,
  handlersOf,
  type Ledger,
  type PolicyDefinitionOf,
} from '../../core/machine/definition.ts';
import { beginRun, exploreNext, raiseAnchor } from '../../core/rollout/adaptive-timeout.ts';
import { refuse } from '../../errors.ts';
import type { SandboxTimeoutDecision, SandboxTimeoutTypes } from '../../generated/settings/sandbox-timeout.ts';
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
import type { Message } from '../../schemas/messages.ts';
import { report } from './report.ts';
import { ruleOf, timeoutConfig } from './schema.ts';
import { end, hasEnded, type Run, type SavedTimeouts, type TimeoutState, timeoutState } from './state.ts';
import { waits } from './waits.ts';

const decisions = [sandboxRun, sandboxScored, sandboxUnscored, sandboxLate, sandboxReport] as const;

type Ctx = Context<SandboxTimeoutDecision>;

const on = handlersOf<TimeoutState, SandboxTimeoutDecision>();
const handlers = [
  on(sandboxRequested, request, checkNew),
  on(sandboxFinished, finish, checkKnown),
  on(sandboxCancelled, cancel, checkKnown),
  on(sandboxReportRequested, report),
  on(hostRestarted, (state, _, ctx) => {
    // Runs end in the order of their requests.
    for (const run of [...state.runs.values()]) unscored(state, run, { code: 'host_restarted' }, ctx);
  }),
];

function checkNew(state: TimeoutState, { runId }: Message<'sandbox.requested'>): void {
  if (state.runs.has(runId) || hasEnded(state, runId)) refuse('duplicate_id', 'runId', 'a new run id', runId);
}

function request(state: TimeoutState, { runId, testCaseId }: Message<'sandbox.requested'>, ctx: Ctx): void {
  const { timeoutFactor, minTimeoutSeconds, maxTimeoutSeconds, exploreEvery } = state.config;
  const { code, anchorSeconds, seconds: timeoutSeconds } = beginRun(state.anchors, testCaseId, ruleOf(state.config));
  let reason: Message<'sandbox.run'>['reason'];
  if (anchorSeconds === null) reason = { code: 'no_anchor', maxTimeoutSeconds };
  else if (code === 'exploration') reason = { code, anchorSeconds, exploreEvery };
  else reason = { code: 'anchored', anchorSeconds, timeoutFactor, minTimeoutSeconds, maxTimeoutSeconds };
  state.runs.set(runId, { runId, testCaseId, timeoutSeconds, anchorSeconds, explores: code === 'exploration' });
  ctx.emit({ type: 'sandbox.run', at: ctx.at, runId, testCaseId, timeoutSeconds, reason });
}

function checkKnown(state: TimeoutState, { runId }: { readonly runId: string }): void {
  if (state.runs.has(runId) || hasEnded(state, runId)) return;
  refuse('unknown_id', 'runId', 'a run that was requested', runId);
}

function late(runId: string, ctx: Ctx): void {
  ctx.emit({ type: 'sandbox.late', at: ctx.at, runId, reason: { code: 'already_ended' } });
}

function cancel(state: TimeoutState, { runId }: Message<'sandbox.cancelled'>, ctx: Ctx): void {
  const run = state.runs.get(runId);
  if (run === undefined) late(runId, ctx);
  else unscored(state, run, { code: 'cancelled' }, ctx);
}

function finish(state: TimeoutState, event: Message<'sandbox.finished'>, ctx: Ctx): void {
  const { runId, outcome, seconds } = event;
  const run = state.runs.get(runId);
  if (run === undefined) return late(runId, ctx);
  if (outcome === 'infrastructure') return unscored(state, run, { code: 'infrastructure', seconds }, ctx);
  const { testCaseId, timeoutSeconds } = run;
  end(state, runId);
  remember(state, run, outcome, seconds);
  let score: 0 | 1 = 0;
  let reason: Message<'sandbox.scored'>['reason'];
  if (outcome === 'correct') {
    score = 1;
    const anchor = raiseAnchor(state.anchors, testCaseId, seconds);
    if (anchor.forgets) state.forgotten += 1;
    reason = { code: 'correct', seconds, timeoutSeconds, anchorSeconds: anchor.seconds };
  } else if (outcome === 'wrong') reason = { code: 'wrong', seconds, timeoutSeconds };
  else {
    const { maxTimeoutSeconds } = state.config;
    reason = { code: 'timeout', seconds, timeoutSeconds, maxTimeoutSeconds };
  }
  ctx.emit({ type: 'sandbox.scored', at: ctx.at, runId, testCaseId, score, reason });
}

/** Remembers a run that has an anchor. The timeouts of other runs do not depend on λ, so they are of no use for the report. */
function remember(state: TimeoutState, run: Run, outcome: 'correct' | 'wrong' | 'timeout', seconds: number): void {
  const { anchorSeconds, timeoutSeconds, explores } = run;
  if (anchorSeconds === null) return;
  state.history.push({ anchorSeconds, timeoutSeconds, seconds, outcome, explores });
  if (state.history.size > state.config.historyRuns) state.history.shift();
}

/**
 * Ends a run without a score, through no fault of the code: no anchor moves, and if the run was an exploration, the next run of the
 * test case explores instead.
 */
function unscored(state: TimeoutState, run: Run, reason: Message<'sandbox.unscored'>['reason'], ctx: Ctx): void {
  const { runId, testCaseId } = run;
  end(state, runId);
  if (run.explores) exploreNext(state.anchors, testCaseId, ruleOf(state.config));
  ctx.emit({ type: 'sandbox.unscored', at: ctx.at, runId, testCaseId, reason });
}

const runLedger: Ledger<SavedTimeouts, Message, SandboxTimeoutDecision> = {
  name: 'runs',
  entered: (event) => (event.type === 'sandbox.requested' ? [event.runId] : []),
  left: (one) => (one.type === 'sandbox.scored' || one.type === 'sandbox.unscored' ? [one.runId] : []),
  held: (saved) => saved.runs.map((run) => run.runId),
};

/** Stops doomed code early, by timeouts that follow from the longest correct run of each test case. */
export const sandboxTimeout: PolicyDefinitionOf<SandboxTimeoutTypes, TimeoutState, SavedTimeouts> = definePolicy({
  id: 'sandbox-timeout',
  version: 1,
  summary: 'Stops doomed code early: a timeout for each test case, from its longest correct run.',
  source: 'RollPacker §4.3',
  config: timeoutConfig,
  state: timeoutState,
  link: (state) => state.anchors.limit(state.config.maxTestCases),
  handlers,
  decisions,
  ledgers: [runLedger],
  waits,
});
