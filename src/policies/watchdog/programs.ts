/**
 * What programs and their environments change in what is awaited: what a policy holds back is owed by nobody, and of a program that is
 * over nothing is owed any more.
 */
import type { AnyDecision, AnyEvent } from '../../core/machine/definition.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Owed } from './state.ts';

const ofProgram = ['response.completed', 'tool.finished', 'turn.finished', 'turn.requested'] as const;
const isBegun = (type: string): boolean => type === 'request.launch' || type === 'request.resume';

/** Whether programs wait for environments: then they begin when they have one, and not when they are launched. */
const needSlots = ({ commands }: Owed): boolean => commands.usual('slot.ready') !== undefined;

/** Forgets what is owed of a program; that it ends, if it is being aborted, is still owed. */
export function forgetProgram(owed: Owed, requestId: string): void {
  owed.forgetAwaited(requestId, ofProgram);
}

/** Follows a decision that is answered. */
export function told(owed: Owed, decision: AnyDecision, at: number): void {
  const { type, requestId } = decision as AnyDecision & { readonly requestId?: string };
  if (isBegun(type) && needSlots(owed)) return;
  owed.told(decision, at);
  // A program whose environment ends is over.
  if (type === 'slot.reclaim' && requestId !== undefined) forgetProgram(owed, requestId);
}

/** Follows an event that answers. */
export function heard(owed: Owed, event: AnyEvent, at: number): void {
  const neededSlots = needSlots(owed);
  owed.heard(event, at);
  // Until the turn is routed, the policy holds it back.
  if (event.type === 'turn.requested')
    owed.forgetAwaited((event as Message<'turn.requested'>).requestId, ['response.completed']);
  if (neededSlots || !needSlots(owed)) return;
  for (const { type, ids } of owed.commands.open)
    if (isBegun(type)) owed.forgetAwaited(ids.requestId!, ['response.completed']);
}

/** What is owed of a program no more after a report that changes nothing. */
export function forgetLate(owed: Owed, { requestId, reason }: Message<'program.late'>): void {
  owed.forgetAwaited(requestId, reason.code === 'already_ended' ? ofProgram : ['turn.requested']);
}
