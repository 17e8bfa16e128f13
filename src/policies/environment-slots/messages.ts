/** The decisions of environment-slots, and their context. */
import { type Context, handlersOf } from '../../core/machine/definition.ts';
import type { EnvironmentSlotsDecision } from '../../generated/settings/environment-slots.ts';
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
import type { SlotsState } from './state.ts';

export const slotDecisions = [
  slotPrewarm,
  slotAssign,
  slotReclaim,
  slotDenied,
  slotsSuspended,
  slotsRecovered,
  slotExpired,
  slotLate,
  timerSet,
] as const;

/** The context through which handlers emit decisions. */
export type Ctx = Context<EnvironmentSlotsDecision>;
/** Declares the handler of an event. */
export const on = handlersOf<SlotsState, EnvironmentSlotsDecision>();
