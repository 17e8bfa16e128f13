/**
 * Adaptive tensor parallelism (RollPacker §4.2): the TP of rollouts follows the preemptions of the engines, for short and
 * for long rounds apart, with an offline profile for the start and as a veto. See README.md.
 */
import { definePolicyByHand, type Ledger } from '../../core/definition.ts';
import { refuse } from '../../errors.ts';
import type { RolloutWorkload } from '../../schemas/parallelism.ts';
import { isSame, reported } from './bounds.ts';
import { begin, fail } from './change.ts';
import {
  type Ctx,
  type KeptReason,
  only,
  type TpDecision,
  type TpEvent,
  tell,
  tpDecisions,
  tpEvents,
  use,
} from './decisions.ts';
import { measure, observe } from './observe.ts';
import { tpConfig } from './schema.ts';
import { load, type SavedTp, save, tpSnapshot } from './snapshot.ts';
import { kinds, newState, type TpState } from './state.ts';
import { finishStep } from './step.ts';
import { pointKey } from './surface.ts';

/** Points that may be measured beside those of the offline profile. */
const mostMeasured = 20_000;

function check(state: TpState, event: TpEvent): void {
  switch (event.type) {
    case 'step.finished':
      checkExperts(event, 'ep');
      return checkWorkload(event.workload);
    case 'profile.observed':
    case 'tp.failed':
      return checkExperts(event, 'ep');
    case 'profile.measured': {
      for (const [at, row] of event.rows.entries()) checkExperts(row, `rows[${at}].ep`);
      const added = new Set(event.rows.map(pointKey).filter((key) => !state.measured.has(key))).size;
      if (state.measured.size + added <= mostMeasured) return;
      const got = state.measured.size + added;
      refuse('limit_exceeded', 'rows', `at most ${mostMeasured} measured points`, got);
    }
  }
}

function checkExperts({ tp, ep }: { tp: number; ep?: number | undefined }, path: string): void {
  if (ep === undefined || tp % ep === 0) return;
  refuse('invalid_event', path, `a divisor of tp (${tp})`, ep);
}

function checkWorkload({ longestTokens, responseTokens }: RolloutWorkload): void {
  if (longestTokens >= responseTokens) return;
  refuse('invalid_event', 'workload.longestTokens', `at least responseTokens (${responseTokens})`, longestTokens);
}

function apply(state: TpState, event: TpEvent, ctx: Ctx): void {
  switch (event.type) {
    case 'step.finished':
      return finishStep(state, event, ctx);
    case 'round.planned':
      if (state.kinds[event.kind].current === undefined) begin(state, event.kind, undefined, undefined, ctx);
      return use(state, event, state.kinds[event.kind].current!, ctx);
    case 'tp.failed':
      return failed(state, event, ctx);
    case 'profile.observed':
      return observe(state, event, ctx);
    case 'profile.measured':
      return measure(state, event);
    case 'host.restarted':
      for (const kind of kinds) {
        const { current } = state.kinds[kind];
        if (current !== undefined) tell(state, kind, current, { code: 'host_restarted' }, undefined, ctx);
      }
  }
}

function failed(state: TpState, event: Extract<TpEvent, { type: 'tp.failed' }>, ctx: Ctx): void {
  const { kind } = event;
  const { tp, ep } = reported(event, state.config.experts);
  const { current } = state.kinds[kind];
  const numbers = ep === undefined ? { failedTp: tp } : { failedTp: tp, failedEp: ep };
  const isCurrent = current !== undefined && isSame(current, { tp, ep });
  if (isCurrent && fail(state, kind, ctx)) return;
  const parallelism = only(current ?? { tp, ep });
  const reason: KeptReason = isCurrent ? { code: 'not_applied', ...numbers } : { code: 'late', ...numbers };
  ctx.emit({ type: 'tp.kept', at: ctx.at, kind, ...parallelism, reason });
}

/** Every step is answered by one decision that names its round: none is left in the policy. */
const steps: Ledger<SavedTp, TpEvent, TpDecision> = {
  name: 'steps',
  entered: (event) => (event.type === 'step.finished' ? [event.roundId] : []),
  left: (decision) =>
    (decision.type === 'tp.set' || decision.type === 'tp.kept') && decision.roundId !== undefined
      ? [decision.roundId]
      : [],
  held: () => [],
};

/** Chooses the tensor (and expert) parallelism of rollouts, for short and for long rounds. */
export const adaptiveTp = definePolicyByHand({
  id: 'adaptive-tp',
  version: 1,
  summary: 'Doubles the TP of rollouts when preemptions rise and halves it when there are none; a profile has a veto.',
  source: 'RollPacker §4.1, §4.2, §7',
  config: tpConfig,
  events: tpEvents,
  decisions: tpDecisions,
  state: tpSnapshot,
  init: newState,
  check,
  apply,
  save,
  load,
  ledgers: [steps],
});
