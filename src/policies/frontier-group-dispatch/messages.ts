/** The decisions of frontier-group-dispatch, and their context. */
import { type Context, handlersOf } from '../../core/machine/definition.ts';
import type { FrontierGroupDispatchDecision } from '../../generated/settings/frontier-group-dispatch.ts';
import {
  frontierResized,
  frontierStarved,
  groupLeft,
  requestAdmit,
  requestAwaited,
  requestDeferred,
  requestDropped,
} from '../../schemas/decisions/frontier.ts';
import { responseLate } from '../../schemas/decisions/requests.ts';
import type { FrontierState } from './state.ts';

export const frontierDecisions = [
  requestAdmit,
  requestDeferred,
  requestDropped,
  requestAwaited,
  groupLeft,
  responseLate,
  frontierResized,
  frontierStarved,
] as const;

/** The context through which handlers emit decisions. */
export type Ctx = Context<FrontierGroupDispatchDecision>;
/** Declares the handler of an event. */
export const on = handlersOf<FrontierState, FrontierGroupDispatchDecision>();
