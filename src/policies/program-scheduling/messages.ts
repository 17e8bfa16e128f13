/** The decisions of program-scheduling, and their context. */
import { type Context, handlersOf } from '../../core/machine/definition.ts';
import type { ProgramSchedulingDecision } from '../../generated/settings/program-scheduling.ts';
import {
  engineFreed,
  kvRetain,
  programAwaited,
  programEnded,
  programLate,
  programPause,
  programResume,
  turnRoute,
} from '../../schemas/decisions/programs.ts';
import { timerSet } from '../../schemas/decisions/session.ts';
import { triesRecovered, triesSuspended } from '../../schemas/decisions/tries.ts';
import type { Message } from '../../schemas/messages.ts';
import type { ProgramState } from './state.ts';

export const programDecisions = [
  turnRoute,
  programPause,
  programResume,
  kvRetain,
  engineFreed,
  programAwaited,
  programEnded,
  programLate,
  triesSuspended,
  triesRecovered,
  timerSet,
] as const;

/** The context through which handlers emit decisions. */
export type Ctx = Context<ProgramSchedulingDecision>;
/** Declares the handler of an event. */
export const on = handlersOf<ProgramState, ProgramSchedulingDecision>();

/** Says that a report changes nothing. */
export function late(requestId: string, code: Message<'program.late'>['reason']['code'], ctx: Ctx): void {
  ctx.emit({ type: 'program.late', at: ctx.at, requestId, reason: { code } });
}
