/**
 * Adaptive tensor parallelism (RollPacker §4.2): the TP of rollouts follows the preemptions of the engines, for short and
 * for long rounds apart, with an offline profile for the start and as a veto. See README.md.
 */
import { definePolicy, type EventOf, type Ledger } from '../../core/definition.ts';
import { roundPlanned } from '../../schemas/decisions/rounds.ts';
import { profileMeasured, profileObserved, stepFinished, tpFailed } from '../../schemas/events/parallelism.ts';
import { hostRestarted } from '../../schemas/events/session.ts';
import type { Message } from '../../schemas/messages.ts';
import { checkExperts } from './bounds.ts';
import * as changes from './change.ts';
import { type Ctx, on, type TpDecision, tell, tpDecisions, use } from './decisions.ts';
import { checkMeasured, measure, observe } from './observe.ts';
import { tpConfig } from './schema.ts';
import { begin, kinds, link, type SavedTp, type TpState, tpState } from './state.ts';
import { checkStep, finishStep } from './step.ts';

function planRound(state: TpState, event: Message<'round.planned'>, ctx: Ctx): void {
  const { kind } = event;
  if (state.kinds[kind].current === undefined) changes.begin(state, kind, undefined, undefined, ctx);
  use(state, event, state.kinds[kind].current!, ctx);
}

/** A host that has restarted is told what holds. */
function tellAgain(state: TpState, _: Message<'host.restarted'>, ctx: Ctx): void {
  for (const kind of kinds) {
    const { current } = state.kinds[kind];
    if (current !== undefined) tell(state, kind, current, { code: 'host_restarted' }, undefined, ctx);
  }
}

const handlers = [
  on(roundPlanned, planRound),
  on(hostRestarted, tellAgain),
  on(profileMeasured, measure, checkMeasured),
  on(profileObserved, observe, (_, event) => checkExperts(event)),
  on(stepFinished, finishStep, checkStep),
  on(tpFailed, changes.failed, (_, event) => checkExperts(event)),
];

/** Every step is answered by one decision that names its round: none is left in the policy. */
const steps: Ledger<SavedTp, Message, TpDecision> = {
  name: 'steps',
  entered: (event) => (event.type === 'step.finished' ? [event.roundId] : []),
  left: (decision) =>
    (decision.type === 'tp.set' || decision.type === 'tp.kept') && decision.roundId !== undefined
      ? [decision.roundId]
      : [],
  held: () => [],
};

/** Chooses the tensor (and expert) parallelism of rollouts, for short and for long rounds. */
export const adaptiveTp = definePolicy({
  id: 'adaptive-tp',
  version: 1,
  summary: 'Doubles the TP of rollouts when preemptions rise and halves it when there are none; a profile has a veto.',
  source: 'RollPacker §4.1, §4.2, §7',
  config: tpConfig,
  state: tpState,
  begin,
  link,
  handlers,
  decisions: tpDecisions,
  ledgers: [steps],
});

/** What adaptive-tp understands. */
export type TpEvent = EventOf<typeof adaptiveTp>;
