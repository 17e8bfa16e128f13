/**
 * Adaptive tensor parallelism (RollPacker §4.2): the TP of rollouts follows the preemptions of the engines, separately for short
 * and long rounds. An offline profile gives the start, and can veto changes. See README.md.
 */

import { definePolicy, type HeldLedger, handlersOf, type PolicyDefinitionOf } from '../../core/machine/definition.ts';
import { refuse } from '../../errors.ts';
import type { AdaptiveTpDecision, AdaptiveTpTypes } from '../../generated/settings/adaptive-tp.ts';
import { kindTpKept, kindTpSet, profileMeasure, roundTpSet } from '../../schemas/decisions/parallelism.ts';
import { roundCompleted, roundPlanned } from '../../schemas/decisions/rounds.ts';
import { kindTpFailed, profileMeasured, profileObserved, stepFinished } from '../../schemas/events/parallelism.ts';
import { roundFailed } from '../../schemas/events/rounds.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import type { Message } from '../../schemas/messages.ts';
import type { RolloutWorkload } from '../../schemas/parallelism.ts';
import { begin, fail, only, tell, tellRound } from './change.ts';
import { isSame, reported, tpConfig } from './schema.ts';
import {
  begin as beginning,
  type Ctx,
  endRound,
  kinds,
  link,
  migrateFromOne,
  type SavedTp,
  type TpState,
  tpState,
} from './state.ts';
import { finishStep, measure, observe } from './step.ts';
import { pointKey } from './surface.ts';

/** Limit on the points that may be measured in addition to those of the offline profile. */
const mostMeasured = 20_000;

const on = handlersOf<TpState, AdaptiveTpDecision>();
const handlers = [
  on(roundPlanned, planned),
  on([roundCompleted, roundFailed], (state, { roundId }) => endRound(state, roundId)),
  on(hostRestarted, tellAgain),
  on(profileMeasured, measure, checkRows),
  on(profileObserved, observe, (_state, event) => checkExperts(event, 'ep')),
  on(stepFinished, finishStep, (_state, event) => {
    checkExperts(event, 'ep');
    checkWorkload(event.workload);
  }),
  on(kindTpFailed, failed, (_state, event) => checkExperts(event, 'ep')),
];

function checkRows({ measured }: TpState, { rows }: Message<'profile.measured'>): void {
  for (const [at, row] of rows.entries()) checkExperts(row, `rows[${at}].ep`);
  const got = measured.size + new Set(rows.map(pointKey).filter((key) => !measured.has(key))).size;
  if (got > mostMeasured) refuse('limit_exceeded', 'rows', `at most ${mostMeasured} measured points`, got);
}

function checkExperts({ tp, ep }: { tp: number; ep?: number | undefined }, path: string): void {
  if (ep === undefined || tp % ep === 0) return;
  refuse('invalid_event', path, `a divisor of tp (${tp})`, ep);
}

function checkWorkload({ longestTokens, responseTokens }: RolloutWorkload): void {
  if (longestTokens >= responseTokens) return;
  refuse('invalid_event', 'workload.longestTokens', `at least responseTokens (${responseTokens})`, longestTokens);
}

function planned(state: TpState, { roundId, kind }: Message<'round.planned'>, ctx: Ctx): void {
  const of = state.kinds[kind];
  if (of.current === undefined) begin(state, kind, undefined, undefined, ctx);
  state.round = { roundId, kind, ...only(of.current!) };
  tellRound(state, 'round_planned', ctx);
}

function tellAgain(state: TpState, _event: Message<'host.restarted'>, ctx: Ctx): void {
  for (const kind of kinds) {
    const { current } = state.kinds[kind];
    if (current !== undefined) tell(state, kind, current, { code: 'host_restarted' }, undefined, ctx);
  }
  // By now, the engines of the round may be other engines than those of its kind.
  tellRound(state, 'host_restarted', ctx);
}

function failed(state: TpState, event: Message<'kind-tp.failed'>, ctx: Ctx): void {
  const { kind } = event;
  const { tp, ep } = reported(event, state.config.experts);
  const { current } = state.kinds[kind];
  const numbers = ep === undefined ? { failedTp: tp } : { failedTp: tp, failedEp: ep };
  const isCurrent = current !== undefined && isSame(current, { tp, ep });
  if (isCurrent && fail(state, kind, ctx)) return;
  const parallelism = only(current ?? { tp, ep });
  const reason: Message<'kind-tp.kept'>['reason'] = isCurrent
    ? { code: 'not_applied', ...numbers }
    : { code: 'late', ...numbers };
  ctx.emit({ type: 'kind-tp.kept', at: ctx.at, kind, ...parallelism, reason });
}

/** A decision that names the round answers every step; the policy holds no step. */
const steps: HeldLedger<SavedTp> = {
  name: 'steps',
  held: () => [],
};

/** Chooses the tensor (and expert) parallelism of rollouts, separately for short and long rounds. */
export const adaptiveTp: PolicyDefinitionOf<AdaptiveTpTypes, TpState, SavedTp> = definePolicy({
  id: 'adaptive-tp',
  version: 2,
  summary: 'Doubles the TP of rollouts when preemptions rise and halves it when there are none; a profile has a veto.',
  source: 'RollPacker §4.1, §4.2, §7',
  config: tpConfig,
  state: tpState,
  begin: beginning,
  migrations: { 1: migrateFromOne },
  link,
  handlers,
  decisions: [kindTpSet, roundTpSet, kindTpKept, profileMeasure],
  ledgers: [steps],
  // Nothing waits: every step is answered at once.
  waits: { steps: { ids: () => [], of: () => undefined } },
});
