/** Events: inference engines come and go. */
import { engineId } from '../units.ts';
import { defineEvent } from '../vocabulary.ts';

export const engineAdded = defineEvent('engine.added', 'An inference engine takes requests. May be repeated.', {
  engineId,
});
export const engineDrained = defineEvent('engine.drained', 'An engine finishes what it has and takes nothing new.', {
  engineId,
});
export const engineLost = defineEvent('engine.lost', 'An engine is gone, with all requests that ran on it.', {
  engineId,
});
