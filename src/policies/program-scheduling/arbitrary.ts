/** Likely next events, for property tests: mostly usual ones, sometimes late, repeated or odd ones. */

import { engineAdded, engineEvent } from '../../core/generators/arbitrary.ts';
import { type Choices, pick } from '../../core/generators/choices.ts';
import type { ProgramSchedulingEvent } from '../../generated/settings/program-scheduling.ts';
import { deadlines } from './admission.ts';
import type { Program, ProgramState } from './state.ts';

/** Draws a likely next event. */
export function arbitrary(state: ProgramState, choices: Choices): ProgramSchedulingEvent {
  const at = choices.below(6) === 0 ? choices.below(3000) : state.seq + choices.below(8);
  const roll = choices.below(24);
  if (state.engines.size === 0 && roll < 12) return engineAdded(at, choices);
  if (roll < 3 || state.programs.size === 0) return opened(state, at, choices);
  if (roll < 19) return step(state, at, choices);
  if (roll < 21) return { type: 'timer.fired', at: Math.max(at, state.timerAt ?? 0), timerId: deadlines.timerId };
  return engineEvent(state, at, choices, loadOf);
}

function opened(state: ProgramState, at: number, choices: Choices): ProgramSchedulingEvent {
  const requestId = `x${state.seq}`;
  if (choices.below(3) === 0) return { type: 'program.opened', at, requestId };
  const prompt = choices.below(3);
  return { type: 'program.opened', at, requestId, promptId: `p${prompt}`, promptTokens: 40 * prompt };
}

/** The usual next report of a program, or any report of a program that is open or was open. */
function step(state: ProgramState, at: number, choices: Choices): ProgramSchedulingEvent {
  const one = pick([...state.programs.values()], choices);
  const past = choices.below(12) === 0 ? pick([...state.ended], choices) : undefined;
  if (one === undefined || past !== undefined) return report(past ?? 'x0', undefined, at, choices);
  if (choices.below(8) === 0) return report(one.requestId, one, at, choices);
  const { requestId, phase, contextTokens, tokens } = one;
  const tool = `tool${choices.below(3)}`;
  switch (phase) {
    case 'running':
      if (choices.below(4) === 0) {
        const kind = choices.below(4) === 0 ? 'environment' : 'infrastructure';
        return { type: 'response.failed', at, requestId, kind };
      }
      if (choices.below(8) === 0) return { type: 'response.completed', at, requestId, tokens };
      return { type: 'turn.finished', at, requestId, tokens: tokens + choices.below(60), ...cached(one, choices) };
    case 'tool':
      return { type: 'tool.finished', at, requestId, outcome: choices.below(4) === 0 ? 'error' : 'success' };
    case 'asked':
      return report(requestId, one, at, choices);
    default:
      if (choices.below(6) === 0) return { type: 'program.closed', at, requestId };
      if (phase === 'idle' && choices.below(2) === 0) {
        const expected = choices.below(3) === 0 ? { expectedSeconds: choices.below(200) } : undefined;
        return { type: 'tool.started', at, requestId, tool, ...expected };
      }
      return { type: 'turn.requested', at, requestId, contextTokens: contextTokens + choices.below(300) };
  }
}

const cached = ({ contextTokens }: Program, choices: Choices) =>
  choices.below(3) === 0 ? undefined : { cachedTokens: choices.below(3) === 0 ? 0 : contextTokens };

function report(requestId: string, one: Program | undefined, at: number, choices: Choices): ProgramSchedulingEvent {
  switch (choices.below(6)) {
    case 0:
      return { type: 'program.closed', at, requestId };
    case 1:
      return { type: 'turn.finished', at, requestId, tokens: (one?.tokens ?? 0) + choices.below(9) };
    case 2:
      return { type: 'tool.started', at, requestId, tool: `tool${choices.below(3)}` };
    case 3:
      return { type: 'tool.finished', at, requestId, outcome: 'timeout' };
    default:
      return { type: 'turn.requested', at, requestId, contextTokens: choices.below(3000) };
  }
}

function loadOf(choices: Choices) {
  const cachedTokens = choices.below(2) === 0 ? { cachedTokens: choices.below(800) } : undefined;
  return { ...cachedTokens, waiting: choices.below(2), preemptions: choices.below(3) };
}
