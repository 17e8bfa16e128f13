/** Likely next events, for property tests: mostly usual ones, sometimes late, repeated or odd ones. */

import { type Choices, pick } from '../../core/generators/choices.ts';
import type { EnvironmentSlotsEvent } from '../../generated/settings/environment-slots.ts';
import { slotIds } from './environments.ts';
import { deadlines } from './programs.ts';
import type { Slot, SlotsState } from './state.ts';

/** Draws a likely next event. */
export function arbitrary(state: SlotsState, choices: Choices): EnvironmentSlotsEvent {
  const at = latest(state) + (choices.below(12) === 0 ? choices.below(100) - 20 : choices.below(4));
  const roll = choices.below(24);
  // Sometimes there is more room than programs want.
  if (roll < 6 && state.programs.size < 4 + 4 * choices.below(3)) return requested(state, at, choices);
  if (roll < 13) return aboutSlot(state, at, choices);
  if (roll < 19) return aboutProgram(state, at, choices);
  if (roll < 22)
    return { type: 'timer.fired', at: choices.below(2) === 0 ? at : (state.timerAt ?? at), timerId: deadlines.timerId };
  if (roll < 23 && choices.below(3) === 0) {
    return { type: 'slots.changed', at, environment: kindOf(state, choices), slots: choices.below(9) };
  }
  if (choices.below(4) === 0) return { type: 'host.restarted', at, idPrefix: `h${state.oldPrefixes.length}-` };
  return { type: 'timer.fired', at, timerId: 'another' };
}

/** A time not long ago, as far as the state knows; never negative. */
const latest = ({ slots, programs }: SlotsState): number =>
  Math.max(20, ...[...slots.values(), ...programs.values()].map(({ since }) => since));

const kindOf = ({ kinds }: SlotsState, choices: Choices): string =>
  (choices.below(8) === 0 ? undefined : pick([...kinds.keys()], choices)) ?? `kind${choices.below(3)}`;

function requested(state: SlotsState, at: number, choices: Choices): EnvironmentSlotsEvent {
  const known = choices.below(12) === 0 ? pick([...state.programs.keys()], choices) : undefined;
  const requestId = known ?? `p${state.seq}/0#0`;
  return { type: 'slot.requested', at, requestId, environment: kindOf(state, choices) };
}

function aboutSlot(state: SlotsState, at: number, choices: Choices): EnvironmentSlotsEvent {
  const { nextSlot, slots } = state;
  const live: Slot | undefined = choices.below(10) === 0 ? undefined : pick([...slots.values()], choices);
  const slotId = live?.id ?? slotIds.of(state, choices.below(nextSlot + 2));
  const roll = choices.below(10);
  if (live?.status === 'starting' ? roll < 5 : roll < 2) return { type: 'slot.ready', at, slotId };
  if (live?.status === 'starting' ? roll < 9 : roll < 4)
    return { type: 'slot.failed', at, slotId, message: 'no space' };
  if (live?.status === 'busy' && roll < 8)
    return { type: 'tool.started', at, requestId: live.requestId!, tool: 'bash' };
  return { type: roll < 7 ? 'slot.released' : 'slot.ready', at, slotId };
}

function aboutProgram(state: SlotsState, at: number, choices: Choices): EnvironmentSlotsEvent {
  const requestId = pick([...state.programs.keys()], choices) ?? 'nobody';
  switch (choices.below(9)) {
    case 0:
    case 1:
    case 2:
      return { type: 'program.closed', at, requestId };
    case 3:
    case 4:
    case 5: {
      const expected = choices.below(3) === 0 ? { expectedSeconds: choices.below(90) } : {};
      return { type: 'tool.started', at, requestId, tool: `tool${choices.below(3)}`, ...expected };
    }
    default:
      return { type: 'tool.finished', at, requestId, outcome: choices.below(4) === 0 ? 'timeout' : 'success' };
  }
}
