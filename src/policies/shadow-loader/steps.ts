/** Handles training steps: opens, closes and forgets them. */
import { refuse } from '../../errors.ts';
import type { LoaderState, Step } from './state.ts';

function newStep(id: string, order: number): Step {
  const ends = { previous: null, next: null };
  return { id, order, closed: false, current: false, samples: 0, unwanted: new Set(), aheadBytes: new Map(), ...ends };
}

/** Refuses a step that is completed. */
export function checkOpen(state: LoaderState, stepId: string): void {
  if (!state.steps.get(stepId)?.closed && !state.recentSteps.has(stepId)) return;
  refuse('out_of_order', 'stepId', 'a step that is not completed', stepId);
}

/** Refuses a step for which no samples were ever drawn. */
export function checkKnown(state: LoaderState, stepId: string): void {
  if (state.steps.has(stepId) || state.recentSteps.has(stepId)) return;
  refuse('unknown_id', 'stepId', 'a step that samples were drawn for', stepId);
}

/** Returns the step with this id, or appends a new step. */
export function stepFor(state: LoaderState, id: string): Step {
  const known = state.steps.get(id);
  if (known !== undefined) return known;
  const step = newStep(id, state.nextStep++);
  state.steps.set(id, step);
  state.openSteps.push(step);
  moveOn(state);
  return step;
}

/** Closes a step that no batch uses any longer. */
export function close(state: LoaderState, step: Step): void {
  step.closed = true;
  state.openSteps.remove(step);
  state.recentSteps.add(step.id);
  forget(state, step);
  moveOn(state);
}

/** Forgets a completed step once its last sample has left. */
export function forget(state: LoaderState, step: Step): void {
  if (step.closed && step.samples === 0) state.steps.delete(step.id);
}

/** Makes the first open step the current one; samples of this step no longer count as held ahead. */
export function moveOn(state: LoaderState): void {
  const current = state.openSteps.peek();
  state.dirty = true;
  if (current === undefined) return;
  if (!current.current) {
    current.current = true;
    for (const [node, bytes] of current.aheadBytes) node.aheadBytes -= bytes;
    current.aheadBytes.clear();
  }
  let last = current;
  for (let ahead = 0; ahead < state.config.prefetchSteps && last.next !== null; ahead += 1) last = last.next;
  state.lastAhead = last.order;
}
