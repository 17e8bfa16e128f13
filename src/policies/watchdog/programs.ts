/**
 * Adjusts what is awaited for programs and their environments: nobody owes what a policy holds back, and nothing is owed to a
 * program that is over.
 */
import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Owed } from './state.ts';

const ofProgram = ['response.completed', 'tool.finished', 'turn.finished', 'turn.requested'] as const;
const isBegun = (type: string): boolean => type === 'request.launch' || type === 'request.resume';

/** Whether programs wait for environments: then a program begins with its environment, and not with its launch. */
const needSlots = ({ commands }: Owed): boolean => commands.usual('slot.ready') !== undefined;

/** Forgets what is owed to a program; the end of a program that is being aborted is still owed. */
export function forgetProgram(owed: Owed, requestId: string): void {
  owed.forgetAwaited(requestId, ofProgram);
}

/** Follows a decision that expects an answer. */
export function told(owed: Owed, decision: AnyDecision, at: number): void {
  const { type, requestId } = decision as AnyDecision & { readonly requestId?: string };
  if (isBegun(type) && needSlots(owed)) return;
  owed.told(decision, at);
  // A program is over when its environment ends.
  if (type === 'slot.reclaim' && requestId !== undefined) forgetProgram(owed, requestId);
}

/** Follows an event that answers. */
export function heard(owed: Owed, event: AnyEvent, at: number): void {
  const neededSlots = needSlots(owed);
  owed.heard(event, at);
  // The policy holds the turn back until it routes the turn.
  if (event.type === 'turn.requested')
    owed.forgetAwaited((event as Message<'turn.requested'>).requestId, ['response.completed']);
  if (neededSlots || !needSlots(owed)) return;
  for (const { type, ids } of owed.commands.open)
    if (isBegun(type)) owed.forgetAwaited(ids.requestId!, ['response.completed']);
}

/** Forgets what is no longer owed to a program after a report that changes nothing. */
export function forgetLate(owed: Owed, { requestId, reason }: Message<'program.late'>): void {
  owed.forgetAwaited(requestId, reason.code === 'already_ended' ? ofProgram : ['turn.requested']);
}
