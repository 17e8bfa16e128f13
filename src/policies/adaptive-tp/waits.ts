/** What blocks what in adaptive-tp: nothing waits, because every step is answered at once. */
import type { Waits } from '../../core/waits.ts';
import type { TpState } from './state.ts';

/** What blocks what. */
export const waits: Waits<TpState> = { steps: { ids: () => [], of: () => undefined } };
