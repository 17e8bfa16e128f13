/**
 * Environments of programs, such as sandboxes, as a pool of slots: the policy starts environments before they are needed, gives
 * them to the program that has waited longest, and takes them back from tools that do not answer. See README.md.
 */

import { checkNewPrefix, replacePrefix } from '../../core/ids/minted-ids.ts';
import { definePolicy, type HeldLedger, handlersOf, type PolicyDefinitionOf } from '../../core/machine/definition.ts';
import { checkTimer, timerFired as noteFired } from '../../core/rollout/deadlines.ts';
import { refuse } from '../../errors.ts';
import type { EnvironmentSlotsDecision, EnvironmentSlotsTypes } from '../../generated/settings/environment-slots.ts';
import { timerSet } from '../../schemas/decisions/session.ts';
import {
  slotAssign,
  slotDenied,
  slotExpired,
  slotLate,
  slotPrewarm,
  slotReclaim,
  slotsRecovered,
  slotsSuspended,
} from '../../schemas/decisions/slots.ts';
import { programClosed, toolFinished, toolStarted } from '../../schemas/events/programs.ts';
import { hostRestarted, timerFired } from '../../schemas/events/session.ts';
import { slotFailed, slotReady, slotReleased, slotRequested, slotsChanged } from '../../schemas/events/slots.ts';
import type { Message } from '../../schemas/messages.ts';
import { checkSlot, failed, forgetTool, ready, recover, released } from './environments.ts';
import {
  checkNew,
  checkTool,
  closed,
  deadlines,
  request,
  settle,
  toolFinished as toolAnswered,
  toolStarted as toolBegan,
} from './programs.ts';
import { environmentSlotsConfig, mostKinds } from './schema.ts';
import {
  addKind,
  begin,
  type Ctx,
  leave,
  link,
  type SavedSlots,
  type SlotsState,
  setDue,
  slotsState,
} from './state.ts';
import { gates, waits } from './waits.ts';

const on = handlersOf<SlotsState, EnvironmentSlotsDecision>();
const handlers = [
  on(slotsChanged, changeSlots, checkKind),
  on(slotRequested, request, checkNew),
  on(slotReady, ready, checkSlot),
  on(slotFailed, failed, checkSlot),
  on(slotReleased, released, checkSlot),
  on(programClosed, closed),
  on(toolStarted, toolBegan, checkTool),
  on(toolFinished, toolAnswered),
  on(timerFired, noteFired(deadlines), checkTimer(deadlines)),
  on(hostRestarted, restart, checkNewPrefix),
];

function checkKind({ kinds }: SlotsState, { environment }: Message<'slots.changed'>): void {
  if (kinds.has(environment) || kinds.size < mostKinds) return;
  refuse('limit_exceeded', 'environment', `at most ${mostKinds} kinds of environments`, environment);
}

function changeSlots(state: SlotsState, { environment, slots }: Message<'slots.changed'>): void {
  const kind = state.kinds.get(environment) ?? addKind(state, environment, slots);
  kind.slots = slots;
  state.touched.add(kind);
}

/**
 * Names again the environments that programs have, so that the host can report lost ones. All other environments are gone:
 * waiting programs get new ones.
 */
function restart(state: SlotsState, { idPrefix }: Message<'host.restarted'>, ctx: Ctx): void {
  replacePrefix(state, idPrefix);
  deadlines.forget(state);
  for (const kind of state.kinds.values()) {
    recover(kind, 'host_restarted', ctx);
    Object.assign(kind, { failures: 0, suspensions: 0 });
    state.touched.add(kind);
  }
  for (const one of [...state.slots.values()]) {
    const { id: slotId, requestId, environment } = one;
    setDue(state, one, null);
    if (requestId === null) {
      leave(one);
      state.slots.delete(slotId);
      continue;
    }
    forgetTool(state, one);
    Object.assign(one, { health: 'restarted', tool: null, since: ctx.at });
    ctx.emit({ type: 'slot.assign', at: ctx.at, slotId, requestId, environment, reason: { code: 'host_restarted' } });
  }
}

/** Programs that wait for an environment or have one. A program leaves when its environment is taken back, or when it gets none. */
const programs: HeldLedger<SavedSlots> = {
  name: 'programs',
  held: (saved) => saved.programs.map((one) => one.requestId),
};

/**
 * Starts environments before they are needed, gives each to the program that has waited longest, and takes it back when the
 * program is over or its tool does not answer.
 */
export const environmentSlots: PolicyDefinitionOf<EnvironmentSlotsTypes, SlotsState, SavedSlots> = definePolicy({
  id: 'environment-slots',
  version: 1,
  summary:
    'Gives environments, such as sandboxes, to programs: started ahead, taken back from tools that never answer.',
  source: 'rollflex',
  config: environmentSlotsConfig,
  state: slotsState,
  begin,
  link,
  handlers,
  after: settle,
  dueAt: (state) => deadlines.first(state),
  decisions: [
    slotPrewarm,
    slotAssign,
    slotReclaim,
    slotDenied,
    slotsSuspended,
    slotsRecovered,
    slotExpired,
    slotLate,
    timerSet,
  ],
  ledgers: [programs],
  waits,
  gates,
});
